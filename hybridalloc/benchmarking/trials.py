"""What a benchmark is to do: trials, each known by everything that matters to it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from typing import NamedTuple

from hybridalloc.benchmarking.workloads import Workload
from hybridalloc.compose import name_of, parse
from hybridalloc.problem import CostModel
from hybridalloc.static.strategies import static_text
from hybridalloc.version import package_version

BOUND = "lower bound"
"""What stands in a trial for the proof of a bound; no strategy can have this name."""
_UNFIT = re.compile(r"[^A-Za-z0-9.=_-]+")


class ProgramCase(NamedTuple):
    """What a lower bound is of: a program, how it is judged, and where it runs."""

    name: str
    digest: str
    cost_model: CostModel | None
    given_target: str | None
    given_capacity_bytes: int | None


@dataclass(frozen=True, slots=True)
class Trial:
    """One strategy on one input, under limits; or the proof of a bound."""

    name: str
    """Of the input."""
    digest: str
    """Of the input's files."""
    strategy: str
    """The text of a composition, or ``BOUND``."""
    cost_model: CostModel | None
    """``None`` of a CSV file of buffers."""
    time_limit_s: float
    seed: int
    workers: int
    given_target: str | None
    """The target that the user names, if any."""
    given_capacity_bytes: int | None
    """The size of fast memory that the user gives, if any."""
    robust: bool
    """Whether it starts from the compiler's own answer, and may be slower than that
    under neither cost model."""
    version: str
    """Of this package."""

    @property
    def key(self) -> str:
        """The same for two trials if and only if they are the same."""
        values = json.dumps(asdict(self), sort_keys=True)
        return sha256(values.encode()).hexdigest()[:16]

    @property
    def file_name(self) -> str:
        """Of its record; begins with what a person looks for."""
        strategy = _UNFIT.sub("-", self.strategy)[:40]
        limit = f"{self.time_limit_s:g}s{'.robust' if self.robust else ''}"
        words = f"{self.name[:100]}.{self.cost_model or 'static'}.{limit}.{strategy}"
        return f"{_UNFIT.sub('-', words)}.{self.key}.json"

    @property
    def is_bound(self) -> bool:
        """Whether a lower bound is to be proven."""
        return self.strategy == BOUND

    @property
    def case(self) -> ProgramCase:
        """Which program, under which cost model and on which target."""
        return ProgramCase(
            self.name,
            self.digest,
            self.cost_model,
            self.given_target,
            self.given_capacity_bytes,
        )


@dataclass(frozen=True, slots=True)
class Settings:
    """What to try on every program, or on every CSV file of buffers."""

    strategies: tuple[str, ...]
    """Texts of compositions."""
    time_limits_s: tuple[float, ...]
    cost_models: tuple[CostModel | None, ...]
    """``None`` alone for CSV files of buffers."""
    seeds: tuple[int, ...] = (0,)
    workers: int = 1
    """Of each trial."""
    target: str | None = None
    capacity_bytes: int | None = None
    robust: bool = False
    """Whether searches are robust."""
    bound_time_s: float = 0.0
    """For the proof of a bound of each program under each cost model; 0 for none."""

    @property
    def is_static(self) -> bool:
        """Whether these are for CSV files of buffers."""
        return self.cost_models == (None,)

    def searches(self, workloads: Iterable[Workload]) -> tuple[Trial, ...]:
        """The trials of strategies; those of one input follow each other."""
        names = list(dict.fromkeys(map(self._name, self.strategies)))
        return tuple(
            self._trial(workload, name, model, limit, seed)
            for model, limit, workload, seed, name in product(
                *(self.cost_models, self.time_limits_s, workloads, self.seeds, names)
            )
        )

    def bounds(self, workloads: Iterable[Workload]) -> Iterator[Trial]:
        """The proofs of bounds, if wanted."""
        if self.bound_time_s > 0:
            for model, workload in product(self.cost_models, workloads):
                yield self._trial(workload, BOUND, model, self.bound_time_s, 0)

    def _name(self, strategy: str) -> str:
        return static_text(strategy) if self.is_static else name_of(parse(strategy))

    def _trial(
        self,
        workload: Workload,
        strategy: str,
        cost_model: CostModel | None,
        limit: float,
        seed: int,
    ) -> Trial:
        return Trial(
            name=workload.name,
            digest=workload.digest,
            strategy=strategy,
            cost_model=cost_model,
            time_limit_s=limit,
            seed=seed,
            workers=self.workers,
            given_target=self.target,
            given_capacity_bytes=self.capacity_bytes,
            robust=self.robust and strategy != BOUND,
            version=package_version(),
        )
