"""The text of a composition, such as ``best(msa@5s,greedy)>annealing``.

The grammar::

    chain    = budgeted {">" budgeted}
    budgeted = single {"@" time}
    single   = "(" chain ")"
             | ("first" | "best" | "together") "(" chain {"," chain} ")"
             | name ["(" option "=" value {"," option "=" value} ")"]
    time     = number ("ms" | "s" | "min" | "%")

Within parentheses of its own, a chain of one is a chain.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TypeVar

from hybridalloc.compose.combinators import BestOf, Chain, FirstOf, Share, Within
from hybridalloc.compose.options import PLAIN
from hybridalloc.compose.strategy import Strategy
from hybridalloc.compose.together import Together
from hybridalloc.errors import UsageError
from hybridalloc.registry import NAME, get_entry
from hybridalloc.solver import Solver

Item = TypeVar("Item")

COMBINATORS: dict[str, type[FirstOf] | type[BestOf] | type[Together]] = {
    "first": FirstOf,
    "best": BestOf,
    "together": Together,
}
"""What each name of ``registry.COMBINATORS`` stands for."""
_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_UNIT = re.compile("ms|s|min|%")
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0}
_VALUE = re.compile(rf'"(\\.|[^"\\])*"|{PLAIN.pattern}')
_SPACE = re.compile(r"\s*")
_DEEPEST = 50


def parse(text: str) -> Solver:
    """The solver that a text stands for.

    Raises:
        UsageError: The text is not of the grammar, or names what does not exist.

    >>> str(parse("best( greedy @ 5s, slow ) > greedy(displacements=20)"))
    'best(greedy@5s,slow)>greedy(displacements=20)'
    """
    reader = _Reader(text)
    solver = reader.chain()
    reader.end("'>', '@' or the end")
    return solver


def split(text: str) -> tuple[str, ...]:
    """The texts in a list of them, separated by commas outside parentheses.

    Raises:
        UsageError: One of them is not of the grammar, or names what does not exist.

    >>> split("greedy, best(slow,random)")
    ('greedy', 'best(slow,random)')
    """
    reader = _Reader(text)
    texts = reader.texts(reader.chain)
    reader.end("',', '>', '@' or the end")
    return texts


def parse_single(text: str) -> tuple[str, dict[str, str]]:
    """The name and the options in a text that composes nothing.

    Raises:
        UsageError: It is no such text; the name may be that of no strategy.

    >>> parse_single("packing( most_buffers = 9 )")
    ('packing', {'most_buffers': '9'})
    """
    reader = _Reader(text)
    found = reader.single()
    reader.end("the end")
    return found


def split_singles(text: str) -> tuple[str, ...]:
    """The texts in a list of such as compose nothing.

    Raises:
        UsageError: One of them is no such text.
    """
    reader = _Reader(text)
    texts = reader.texts(reader.single)
    reader.end("',' or the end")
    return texts


class _Reader:
    """Reads a text from left to right."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.position = 0
        self._depth = 0

    def chain(self, *, alone: bool = False) -> Solver:
        """Solvers one after the other; one, unless it is alone, is just that."""
        solvers = [self._budgeted()]
        while self._take(">"):
            solvers.append(self._budgeted())
        return solvers[0] if len(solvers) == 1 and not alone else Chain(*solvers)

    def listed(self, read: Callable[[], Item]) -> list[Item]:
        """Items separated by commas."""
        items = [read()]
        while self._take(","):
            items.append(read())
        return items

    def texts(self, read: Callable[[], object]) -> tuple[str, ...]:
        """The texts of items separated by commas."""

        def one() -> str:
            begin = self.position
            read()
            return self.text[begin : self.position].strip()

        return tuple(self.listed(one))

    def single(self) -> tuple[str, dict[str, str]]:
        """The name of a strategy, and its options."""
        name = self._match(NAME, "the name of a strategy")
        if name in COMBINATORS:
            raise UsageError(
                f"{name!r} composes strategies, which is for programs; expected one"
            )
        return name, self._settings() if self._take("(") else {}

    def end(self, expected: str) -> None:
        """Refuse whatever is left."""
        self._skip()
        if self.position < len(self.text):
            raise self._error(expected)

    def _budgeted(self) -> Solver:
        solver = self._single()
        while self._take("@"):
            number = float(self._match(_NUMBER, "a time such as 5s or 30%"))
            unit = self._match(_UNIT, "a unit of time (ms, s, min, %)")
            try:
                if unit == "%":
                    solver = Share(solver, number)
                else:
                    solver = Within(solver, number * _SECONDS[unit])
            except ValueError as error:
                raise self._located(error, self.position) from error
        return solver

    def _single(self) -> Solver:
        if self._take("("):
            return self._enclosed(lambda: self.chain(alone=True), "'>', '@' or ')'")
        name = self._match(NAME, "the name of a strategy, or '('")
        begin = self.position - len(name)
        if name in COMBINATORS:
            if not self._take("("):
                raise self._error(f"'(' after {name!r}")
            members = self._enclosed(
                lambda: self.listed(self.chain), "',', '>', '@' or ')'"
            )
            return COMBINATORS[name](*members)
        try:
            # before its options, which may be members of a misspelt combinator
            get_entry(name)
            settings = self._settings() if self._take("(") else {}
            return Strategy.named(name, settings)
        except _SyntaxError:
            raise
        except UsageError as error:
            raise self._located(error, begin) from error

    def _settings(self) -> dict[str, str]:
        settings: dict[str, str] = {}

        def one() -> None:
            option = self._match(NAME, "an option, name=value")
            if option in settings:
                raise self._error(f"option {option!r} once only; another")
            if not self._take("="):
                join = " (parts of one value are joined with '+')" if settings else ""
                raise self._error(f"'=' and a value after option {option!r}{join}")
            settings[option] = self._match(_VALUE, f"a value of option {option!r}")

        self._enclosed(lambda: self.listed(one), "',' or ')'")
        return settings

    def _enclosed(self, read: Callable[[], Item], expected: str) -> Item:
        """What is read after an opening parenthesis, up to its closing one."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._error(f"no more than {_DEEPEST} parentheses within each other")
        item = read()
        if not self._take(")"):
            raise self._error(expected)
        self._depth -= 1
        return item

    def _skip(self) -> None:
        space = _SPACE.match(self.text, self.position)
        self.position = space.end() if space else self.position

    def _take(self, symbol: str) -> bool:
        self._skip()
        if not self.text.startswith(symbol, self.position):
            return False
        self.position += len(symbol)
        return True

    def _match(self, pattern: re.Pattern[str], expected: str) -> str:
        self._skip()
        found = pattern.match(self.text, self.position)
        if found is None:
            raise self._error(expected)
        self.position = found.end()
        return found[0]

    def _error(self, expected: str) -> UsageError:
        self._skip()
        rest = self.text[self.position : self.position + 20]
        found = repr(rest) if rest else "the end"
        return _SyntaxError(
            f"strategy {self.text!r}, character {self.position + 1}: expected "
            f"{expected}, found {found}"
        )

    def _located(self, error: Exception, position: int) -> UsageError:
        """The same error, with where it is unless the text is nothing but a name."""
        if NAME.fullmatch(self.text.strip()):
            return UsageError(str(error))
        return _SyntaxError(
            f"strategy {self.text!r}, character {position + 1}: {error}"
        )


class _SyntaxError(UsageError):
    """An error that says where it is."""
