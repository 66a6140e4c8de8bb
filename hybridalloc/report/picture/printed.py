"""Pictures for print, in matplotlib, which draws them without a display."""

from __future__ import annotations

import io
from collections.abc import Callable

import matplotlib
from matplotlib.figure import Figure

from hybridalloc.report.picture.fonts import any_weight, families
from hybridalloc.report.picture.style import DOTS_PER_INCH, STYLE

# No dates and versions, so that the same map gives the same bytes.
METADATA: dict[str, dict[str, None]] = {
    ".png": {"Software": None},
    ".svg": {"Date": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
"""What is left out of the metadata of each format."""


def printed(draw: Callable[[], Figure], suffix: str) -> bytes:
    """A picture in the format that belongs to a suffix.

    Args:
        draw: Draws it, in the style of this package.
        suffix: One of ``PRINTED``.
    """
    stream = io.BytesIO()
    with matplotlib.rc_context(), any_weight():
        matplotlib.rcdefaults()  # whatever style the user has set
        matplotlib.rcParams.update({**STYLE, "font.family": families()})
        draw().savefig(
            stream, format=suffix[1:], dpi=DOTS_PER_INCH, metadata=METADATA[suffix]
        )
    return stream.getvalue()
