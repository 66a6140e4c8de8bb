"""The strategy ``evolutionary``: a genetic search over orders of stays."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from hybridalloc.baselines.adoption import adopt
from hybridalloc.baselines.best import Record
from hybridalloc.baselines.moves import LEAST_GAIN, Weights, until_expired, weigh
from hybridalloc.baselines.placed import Placed
from hybridalloc.baselines.plan import Plan
from hybridalloc.loops import Loops
from hybridalloc.memory_map import MemoryMap
from hybridalloc.problem import Problem
from hybridalloc.ranges import require_within
from hybridalloc.simulator import Simulator
from hybridalloc.solver import UNANSWERED, Outcome, Run
from hybridalloc.stays import Stay, candidate_stays, cross_program_stays

Genome = tuple[int, ...]
"""The order in which stays are placed: which is first, second and so on."""

GENERATIONS = 100
"""Bred where neither a deadline nor their number is given."""


@dataclass(frozen=True, slots=True)
class EvolutionaryConfig:
    """How large the population is, and how it breeds."""

    population: int = 20
    """How many orders of stays each generation has."""
    elite: int = 2
    """How many of the best orders live on as they are."""
    tournament: int = 3
    """How many orders are drawn for each parent; the best of them becomes it."""
    crossover: float = 0.8
    """The share of children that have two parents."""
    mutations: int = 8
    """The most stays that change their place in the order of each child."""
    genes: int = 1000
    """About the most stays in an order."""
    seeds: tuple[Weights, ...] = (
        Weights(size=0.5, span=0.5, copies=16.0),
        Weights(size=0.25, span=0.5, copies=4.0),
        Weights(size=1.0, span=1.0, copies=8.0),
    )
    """The first orders: by time saved for the cost that each of these gives a stay."""

    def __post_init__(self) -> None:
        require_within("population", self.population, 1, 10_000)
        require_within("elite", self.elite, 0, self.population - 1)
        require_within("tournament", self.tournament, 1, 10_000)
        require_within("crossover", self.crossover, 0, 1)
        require_within("mutations", self.mutations, 0, 10_000)
        require_within("genes", self.genes, 1)
        require_within("number of seeds", len(self.seeds), 1)


@dataclass(frozen=True, slots=True)
class _Gene:
    """What an order is an order of."""

    stay: Stay
    is_cross_program: bool


class Evolutionary:
    """A plain genetic algorithm over the order in which stays are placed.

    A map is decoded from an order by placing each stay where it fits by then, if that
    saves time; its fitness is its simulated time. Parents are chosen by tournament,
    children made by order crossover (Davis, IJCAI 1985) and by moving some stays. An
    iteration is a generation; the first is the one to begin with.
    """

    def __init__(self, config: EvolutionaryConfig | None = None) -> None:
        self.config = config or EvolutionaryConfig()

    def solve(self, problem: Problem, run: Run) -> Outcome:
        """Breed orders, and keep the best map."""
        simulator = Simulator(problem)
        plan = Plan(problem, Loops(problem.program))
        if not plan.place_pinned():
            return UNANSWERED
        start = plan.memory_map()
        run.report(start)
        record = Record(run, start, simulator.simulate(start).time_s)
        decoder = _Decoder(plan, simulator, record, run)
        try:
            first = self._first_genomes(decoder, run)
            self._breed(first, decoder, Random(run.seed), run)
        finally:
            record.report()
        return Outcome(record.map)

    def _first_genomes(self, decoder: _Decoder, run: Run) -> list[Genome]:
        """Those by benefit, and one that begins with the warm start's stays."""
        genomes = [decoder.by_benefit(weights) for weights in self.config.seeds]
        if run.warm_start is not None:
            genomes.append(decoder.warm(run.warm_start, genomes[0]))
        return decoder.restrict(genomes, self.config.genes)

    def _breed(
        self, first: Sequence[Genome], decoder: _Decoder, random: Random, run: Run
    ) -> None:
        config, generations = self.config, run.iterations
        if generations is None and run.deadline == math.inf:
            generations = GENERATIONS
        genomes = list(first[: config.population])
        for _ in until_expired(run, range(config.population - len(genomes))):
            genomes.append(self._mutate(random.choice(first), random))
        ranked: list[tuple[float, Genome]] = []
        done = 0
        while generations is None or done < generations:
            timely = until_expired(run, genomes)
            bred = [(decoder.decode(genome), genome) for genome in timely]
            if run.expired:
                return
            ranked = sorted([*ranked[: config.elite], *bred])[: config.population]
            children = until_expired(run, range(config.population - config.elite))
            genomes = [self._child(ranked, random) for _ in children]
            done += 1

    def _child(self, ranked: Sequence[tuple[float, Genome]], random: Random) -> Genome:
        """A child of parents that won their tournaments."""
        child = self._parent(ranked, random)
        if random.random() < self.config.crossover:
            child = cross(child, self._parent(ranked, random), random)
        return self._mutate(child, random)

    def _parent(self, ranked: Sequence[tuple[float, Genome]], random: Random) -> Genome:
        """The winner of a tournament."""
        count = self.config.tournament
        drawn = (random.randrange(len(ranked)) for _ in range(count))
        return ranked[min(drawn)][1]

    def _mutate(self, genome: Genome, random: Random) -> Genome:
        """The genome with some stays swapped or shifted, at least one if any may be."""
        places, most = list(genome), self.config.mutations
        for _ in range(random.randint(1, most) if places and most else 0):
            i, j = random.randrange(len(places)), random.randrange(len(places))
            if random.random() < 0.5:
                places[i], places[j] = places[j], places[i]
            else:
                places.insert(j, places.pop(i))
        return tuple(places)


def cross(one: Genome, other: Genome, random: Random) -> Genome:
    """Order crossover: a section of one, the rest in the order of the other.

    >>> class Draw(Random):
    ...     def randint(self, low: int, high: int) -> int:
    ...         return 1 if low == 0 else 3
    >>> cross((0, 1, 2, 3, 4), (4, 3, 2, 1, 0), Draw())
    (4, 1, 2, 3, 0)
    """
    begin = random.randint(0, len(one))
    end = random.randint(begin, len(one))
    section = one[begin:end]
    inside = set(section)
    rest = [gene for gene in other if gene not in inside]
    return (*rest[:begin], *section, *rest[begin:])


class _Decoder:
    """Makes maps of genomes, in one plan."""

    def __init__(
        self, plan: Plan, simulator: Simulator, record: Record, run: Run
    ) -> None:
        self._plan, self._simulator, self._run = plan, simulator, run
        self._record = record
        self._most_across = plan.problem.target.cross_program_prefetches
        across = cross_program_stays(plan.problem, plan.loops)
        stays = until_expired(run, candidate_stays(plan.problem, plan.loops))
        self._genes = [
            *(_Gene(stay, True) for stay in across if self._most_across),
            *(_Gene(stay, False) for stay in stays),
        ]
        self._placed: dict[int, Placed] = {}
        """The genes of the last genome that found a place."""

    def decode(self, genome: Genome) -> float:
        """The simulated time of the map that a genome stands for."""
        for placed in self._placed.values():
            self._plan.take_out(placed)
        self._placed = {}
        for gene in until_expired(self._run, genome):
            if placed_now := self._place(self._genes[gene]):
                self._placed[gene] = placed_now
        arrays = self._simulator.encode(self._plan.memory_map())
        seconds = self._simulator.evaluate(arrays)
        self._record.offer(self._plan, seconds)
        return seconds

    def _place(self, gene: _Gene) -> Placed | None:
        """Place a stay if that saves time."""
        plan, stay = self._plan, gene.stay
        if plan.overlapping(stay) or plan.saving(stay) <= 0:
            return None
        before = plan.total
        if not gene.is_cross_program:
            placed = plan.place(stay, may_stall=True)
        elif sum(x.is_cross_program for x in self._placed.values()) < self._most_across:
            placed = plan.place_cross_program(stay)
        else:
            return None
        if placed and plan.total > before * (1 - LEAST_GAIN):
            plan.take_out(placed)
            return None
        return placed

    def by_benefit(self, weights: Weights) -> Genome:
        """All stays, most time saved for its cost first; in the empty plan."""
        stays = (x.stay for x in until_expired(self._run, self._genes))
        candidates = weigh(self._plan, stays, weights)
        timely = until_expired(self._run, enumerate(candidates))
        scores = [(-self._plan.saving(x.stay) / x.cost, i) for i, x in timely]
        return tuple(i for score, i in sorted(scores) if score < 0)

    def warm(self, memory_map: MemoryMap, genome: Genome) -> Genome:
        """The same with the stays of a map in front."""
        plan = Plan(self._plan.problem, self._plan.loops)
        adopt(plan, memory_map, self._run)
        present = {
            _Gene(placed.stay, placed.is_cross_program)
            for group in plan.placed
            for placed in group
        }
        return tuple(sorted(genome, key=lambda gene: self._genes[gene] not in present))

    def restrict(self, genomes: Sequence[Genome], count: int) -> list[Genome]:
        """These genomes, of just the genes that they place and of what comes next.

        Args:
            genomes: Of the same genes.
            count: About the most to keep.
        """
        kept: set[int] = set()
        for genome in until_expired(self._run, genomes):
            self.decode(genome)
            kept.update(self._placed)
        for rank in zip(*genomes, strict=False):
            if len(kept) >= count:
                break
            kept.update(rank)
        return [tuple(gene for gene in one if gene in kept) for one in genomes]
