"""How the agent is trained."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from hybridalloc.agents.muzero import config as networks
from hybridalloc.agents.muzero.config import NetworkConfig
from hybridalloc.agents.muzero.curriculum import CurriculumConfig
from hybridalloc.agents.muzero.demonstrations import DemonstrationConfig
from hybridalloc.agents.muzero.learner import LearnerConfig
from hybridalloc.agents.muzero.loss import LossConfig
from hybridalloc.agents.muzero.models import ModelKind
from hybridalloc.agents.muzero.replay import ReplayConfig
from hybridalloc.agents.muzero.search import SearchConfig
from hybridalloc.ranges import require_within


@dataclass(frozen=True, slots=True)
class TrainConfig:
    """All parameters of a training, but for its programs and its seed."""

    network: NetworkConfig = networks.CPU
    """The sizes of the network."""
    search: SearchConfig = field(default_factory=lambda: SearchConfig(simulations=8))
    """Of self-play, reanalysis and validation."""
    temperature: float = 0.5
    """Of self-play and reanalysis; validation plays without noise."""
    sure: float = 1.0
    """From which probability of an action on self-play takes it without a search; 1
    searches wherever there is a choice."""
    model: ModelKind = ModelKind.LEARNED
    """What the search plans with."""
    loss: LossConfig = field(default_factory=LossConfig)
    learner: LearnerConfig = field(default_factory=LearnerConfig)
    replay: ReplayConfig = field(default_factory=ReplayConfig)
    curriculum: CurriculumConfig = field(default_factory=CurriculumConfig)
    demonstrations: DemonstrationConfig | None = field(
        default_factory=DemonstrationConfig
    )
    """Without any, the agent learns from its own games alone."""
    imitation_steps: int = 2000
    """Steps that learn from demonstrations alone, before the first game."""
    steps: int = 100
    """Steps of learning in an iteration."""
    varied: int = 8
    """Variations of the best game so far, for each game of an iteration."""
    reanalysed: int = 4
    """Trajectories that are searched again in an iteration."""
    validate_every: int = 5
    """Iterations from one validation to the next."""
    validated: int = 16
    """Programs in a validation, at most: the shortest ones."""
    bound_time_s: float = 10.0
    """Seconds for the lower bound of each program, which rewards are scaled by; 0 for
    the one that is found at once."""
    device: str = "cpu"
    """Where the network is trained, and plays."""

    def __post_init__(self) -> None:
        require_within("imitation_steps", self.imitation_steps, 0)
        require_within("varied", self.varied, 0)
        require_within("reanalysed", self.reanalysed, 0)
        require_within("temperature", self.temperature, 0)
        require_within("bound_time_s", self.bound_time_s, 0)
        require_within("sure", self.sure, 0, 1)
        for name in ("steps", "validate_every", "validated"):
            require_within(name, getattr(self, name), 1)

    def untimed(self) -> Self:
        """The same, but that no clock decides anything: repeated, it is the same."""
        demonstrations = self.demonstrations
        if demonstrations is not None:
            demonstrations = replace(demonstrations, time_limit_s=None)
        return replace(self, demonstrations=demonstrations, bound_time_s=0.0)

    def as_dict(self) -> dict[str, Any]:
        """The parameters as plain numbers and texts, by name."""
        return {**asdict(self), "model": self.model.value}

    @classmethod
    def from_dict(cls, given: dict[str, Any]) -> Self:
        """A configuration from what ``as_dict`` gives.

        Raises:
            KeyError, TypeError: A name is missing or not known.
            ValueError: A number is not possible.
        """
        said = given["demonstrations"]
        if said is not None:
            said = {**said, "strategies": tuple(said["strategies"])}
            said = DemonstrationConfig(**said)
        parts = {
            "network": NetworkConfig.from_dict(given["network"]),
            "search": SearchConfig(**given["search"]),
            "model": ModelKind(given["model"]),
            "loss": LossConfig(**given["loss"]),
            "learner": LearnerConfig(**given["learner"]),
            "replay": ReplayConfig(**given["replay"]),
            "curriculum": CurriculumConfig(**given["curriculum"]),
            "demonstrations": said,
        }
        return cls(**{**given, **parts})


CPU = TrainConfig()
"""For two CPU cores."""
GPU = TrainConfig(
    network=networks.GPU,
    search=SearchConfig(simulations=32),
    learner=LearnerConfig(batch=1024, rate=1e-3),
    replay=ReplayConfig(decisions=1_000_000),
    curriculum=CurriculumConfig(first=16, more=8, games=256, decisions=200_000),
    imitation_steps=10_000,
    steps=500,
    reanalysed=64,
    device="cuda",
)
"""For one accelerator."""
PRESETS = {"cpu": CPU, "gpu": GPU}
"""The configurations by name."""
