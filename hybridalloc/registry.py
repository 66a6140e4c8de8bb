"""The strategies by name: one table of strings, and those that other packages add."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from importlib import import_module
from operator import attrgetter
from typing import cast

from hybridalloc.errors import UsageError
from hybridalloc.solver import Solver

GROUP = "hybridalloc.strategies"
"""The group of entry points by which a package adds strategies."""
COMBINATORS = ("first", "best", "together")
"""Names that stand for compositions, and for no strategy."""
NAME = re.compile(r"[^\W\d][\w.\-]*")
"""What a strategy may be called."""
OURS = "hybridalloc"
OWN = "a class of your own has a name by an entry point (docs/pipelines.md)"


@dataclass(frozen=True, slots=True)
class Entry:
    """Where a strategy is, and what it does."""

    location: str = ""
    """``module:Class``; the class is constructed without arguments, or with ``config``
    where options are given."""
    description: str = ""
    """One line; empty where the class's docstring says it."""
    package: str = OURS
    """The distribution that it comes with."""
    composition: str = ""
    """Instead of a location, the text of a composition for which the name stands."""

    def __post_init__(self) -> None:
        if bool(self.location) == bool(self.composition):
            raise ValueError("entry: expected either a location or a composition")


STRATEGIES: Mapping[str, Entry] = {
    "slow": Entry("hybridalloc.baselines.slow:Slow", "everything stays in slow memory"),
    "replay": Entry(
        "hybridalloc.baselines.replay:Replay",
        "the compiler's own answer, where the input carries it",
    ),
    "random": Entry("hybridalloc.baselines.random:Random", "a random valid map"),
    "random-play": Entry(
        "hybridalloc.baselines.play:RandomPlay",
        "mallocGame played at random, again and again",
    ),
    "greedy-play": Entry(
        "hybridalloc.baselines.play:GreedyPlay",
        "mallocGame, at each step the action that saves most at once",
    ),
    "muzero": Entry(
        "hybridalloc.agents.muzero.strategy:MuZero",
        "mallocGame played by a trained network, with search where it is unsure",
    ),
    "policy": Entry(
        "hybridalloc.agents.muzero.strategy:Policy",
        "mallocGame played by a trained network, without search",
    ),
    "agent-hybrid": Entry(
        "hybridalloc.agents.hybrid.agent:AgentHybrid",
        "mallocGame played by a trained network that may follow heuristics",
    ),
    "greedy": Entry(
        "hybridalloc.baselines.greedy:Greedy",
        "most time saved for each byte and second first, best-fit offsets",
    ),
    "msa": Entry(
        "hybridalloc.baselines.msa:Msa",
        "XLA's Memory Space Assignment, with its flags as options",
    ),
    "belady": Entry(
        "hybridalloc.baselines.belady:Belady",
        "what is used again farthest in the future gives way",
    ),
    "knapsack": Entry(
        "hybridalloc.baselines.knapsack:Knapsack",
        "stays worth more than the price of fast memory at the time",
    ),
    "annealing": Entry(
        "hybridalloc.baselines.annealing:Annealing",
        "simulated annealing: parts of a map are ruined and made anew",
    ),
    "evolutionary": Entry(
        "hybridalloc.baselines.evolutionary:Evolutionary",
        "a genetic search over the order in which stays are placed",
    ),
    "lp": Entry(
        "hybridalloc.cpsat_models.rounding:Lp",
        "the linear relaxation's solution, decided bit by bit and made a map",
    ),
    "search": Entry(
        "hybridalloc.cpsat_models.search:Search",
        "local search of a whole map: very many small moves, compiled",
    ),
    "cpsat": Entry(
        "hybridalloc.cpsat_models.mapping:CpSat",
        "the exact model of the whole problem, solved by OR-Tools' CP-SAT",
    ),
    "windows": Entry(
        "hybridalloc.cpsat_models.windows:Windows",
        "small windows of a map solved exactly, one after the other",
    ),
    "agent-windows": Entry(
        "hybridalloc.agents.hybrid.windows:AgentWindows",
        "windows, half of them where a trained network is in doubt",
    ),
    "brute-force": Entry(
        "hybridalloc.baselines.brute_force:BruteForce",
        "every valid map of a tiny problem, without slices",
    ),
    "hybrid": Entry(
        # cpsat needs no bound of its own after lp's, and finds nothing in larger models
        # in this time; the last search is cold, to keep what is there.
        composition=(
            "best(msa,together(greedy,belady))@20%>"
            "together(lp,search(hottest=0.0003))@80%>"
            "cpsat(bound_share=0.0,most_literals=3000)@40%>windows@60%>"
            "search(hottest=1e-05)"
        ),
        description="a pipeline of other strategies, each for what it does best",
    ),
}
"""Each of our strategies' entry by its name."""
STATIC_STRATEGIES: Mapping[str, Entry] = {
    "fits": Entry(
        "hybridalloc.baselines.static.fits:Fits",
        "first and best fit, in several orders",
    ),
    "branch-and-bound": Entry(
        "hybridalloc.baselines.static.branch_and_bound:BranchAndBound",
        "canonical placements depth first, after minimalloc and TelaMalloc",
    ),
    "packing": Entry(
        "hybridalloc.cpsat_models.packing:Packing",
        "the exact model of offsets, solved by OR-Tools' CP-SAT",
    ),
    "race": Entry(
        "hybridalloc.static.race:Race",
        "the other three; the default of static allocation",
    ),
}
"""The same of those for static allocation, under names of their own."""


@dataclass(frozen=True, slots=True)
class PlugIns:
    """The strategies that other packages add."""

    entries: Mapping[str, Entry]
    refused: Mapping[str, str]
    """Why no strategy of a name is used, by that name."""


def plug_ins() -> PlugIns:
    """Look for the strategies of installed packages; loads none of them.

    A name that is ours stays ours, and one that two packages claim is nobody's.
    """
    from importlib.metadata import entry_points  # looks through every package

    claims: dict[str, list[Entry]] = defaultdict(list)
    for point in entry_points(group=GROUP):
        package = point.dist.name if point.dist is not None else "unknown"
        claims[point.name].append(Entry(point.value, "", package))
    entries, refused = {}, {}
    for name in sorted(claims):
        packages = " and ".join(sorted({entry.package for entry in claims[name]}))
        if name in (*STRATEGIES, *STATIC_STRATEGIES, *COMBINATORS):
            refused[name] = f"strategy {name!r} of {packages}: hybridalloc has its own"
        elif not NAME.fullmatch(name):
            refused[name] = f"strategy {name!r} of {packages}: not a name"
        elif len(claims[name]) > 1:
            refused[name] = f"strategy {name!r} is claimed more than once: {packages}"
        else:
            entries[name] = claims[name][0]
    return PlugIns(entries, refused)


def get_entry(name: str) -> Entry:
    """The entry of the strategy of this name.

    Raises:
        UsageError: There is no such strategy for programs, several packages claim the
            name, or it is no name.
    """
    if name in STRATEGIES:
        return STRATEGIES[name]
    if name in STATIC_STRATEGIES:
        raise UsageError(
            f"strategy {name!r} is for static allocation (a CSV file of buffers); "
            f"expected one for programs"
        )
    if name in COMBINATORS:
        raise UsageError(f"{name!r} composes strategies; expected as in {name}(A,B)")
    if not NAME.fullmatch(name):
        raise UsageError(f"{name!r}: expected the name of one strategy")
    added = plug_ins()
    if name in added.refused:
        raise UsageError(added.refused[name])
    if name not in added.entries:
        hint = nearest(name, [*STRATEGIES, *added.entries, *COMBINATORS])
        own = f"; {OWN}" if hint.startswith("known") else ""
        raise UsageError(f"unknown strategy {name!r}; {hint}{own}")
    return added.entries[name]


def load(name: str) -> type[Solver]:
    """The class of the strategy of this name, or whatever makes one.

    Raises:
        UsageError: There is no such strategy, its package cannot be loaded, or it is a
            composition.
    """
    entry = get_entry(name)
    if entry.composition:
        raise UsageError(
            f"strategy {name!r} has no options of its own; write what it stands for, "
            f"with options where they belong: {entry.composition}"
        )
    module, _, attribute = entry.location.partition(":")
    try:
        made = attrgetter(attribute.strip())(import_module(module.strip()))
    except (Exception, SystemExit) as error:
        if entry.package == OURS:
            raise
        raise UsageError(
            f"strategy {name!r} of package {entry.package} cannot be loaded from "
            f"{entry.location}: {type(error).__name__}: {error}"
        ) from error
    if not callable(made):
        raise UsageError(
            f"strategy {name!r} of package {entry.package}: {entry.location} is "
            f"{made!r}, expected a class"
        )
    return cast(type[Solver], made)


def get_solver(name: str, **arguments: object) -> Solver:
    """The strategy of this name.

    Args:
        name: Its name in the registry.
        arguments: What to construct it with.

    Raises:
        UsageError: There is no such strategy, its package is broken, or it is a
            composition, which takes no arguments.
    """
    entry = get_entry(name)
    if entry.composition and not arguments:
        from hybridalloc.compose import parse  # which looks names up here

        return parse(entry.composition)
    factory, package = load(name), entry.package
    try:
        solver = factory(**arguments)
    except Exception as error:
        if package == OURS:
            raise
        raise UsageError(
            f"strategy {name!r} of package {package} cannot be made: "
            f"{type(error).__name__}: {error}"
        ) from error
    if not callable(getattr(solver, "solve", None)):
        raise UsageError(
            f"strategy {name!r} of package {package}: {solver!r} has no method solve"
        )
    return solver


def describe(name: str) -> str:
    """What the strategy does, in one line.

    Raises:
        UsageError: There is no such strategy, or its package cannot be loaded.
    """
    entry = get_entry(name)
    if entry.description:
        return entry.description
    lines = (load(name).__doc__ or "").strip().splitlines()
    return f"{lines[0] if lines else '(no description)'} [{entry.package}]"


def nearest(name: str, names: Iterable[str]) -> str:
    """A hint at the nearest of the names; at all, where none is near."""
    known = list(names)
    close = get_close_matches(name, known, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known: {', '.join(known)}"
