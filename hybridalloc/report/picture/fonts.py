"""Fonts of pictures for print, and names that none of them can show."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache

from matplotlib.font_manager import fontManager, get_font
from matplotlib.ft2font import FT2Font

FIRST = "DejaVu Sans"
"""Comes with matplotlib: what it can show looks alike everywhere."""
OTHERS = (
    "Noto Sans CJK SC",
    "Noto Sans CJK JP",
    "Noto Sans CJK KR",
    "Source Han Sans SC",
    "WenQuanYi Zen Hei",
    "WenQuanYi Micro Hei",
    "Droid Sans Fallback",
    "Arial Unicode MS",
    "Microsoft YaHei",
    "Malgun Gothic",
    "PingFang SC",
    "Hiragino Sans GB",
)
"""For what the first lacks; as far as they are installed."""


@cache
def families() -> list[str]:
    """The fonts that are asked for a character, one after the other."""
    installed = {font.name for font in fontManager.ttflist}
    return [FIRST, *(name for name in OTHERS if name in installed)]


@contextmanager
def any_weight() -> Iterator[None]:
    """Say nothing of fonts that are not there in the weight that is asked for."""
    logger = logging.getLogger("matplotlib.font_manager")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def drawable(text: str) -> str:
    r"""The text, with escapes for characters that no font here can show.

    >>> drawable("a\N{LATIN SMALL LETTER O WITH DIAERESIS}"), drawable("\U0010fffd")
    ('aö', '\\U0010fffd')
    """
    return "".join(
        x if any(font.get_char_index(ord(x)) for font in _fonts()) else _escape(x)
        for x in text
    )


def _escape(character: str) -> str:
    return character.encode("ascii", "backslashreplace").decode()


@cache
def _fonts() -> list[FT2Font]:
    return [get_font(fontManager.findfont(name)) for name in families()]
