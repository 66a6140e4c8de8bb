"""How large a network is, and what it can tell."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any, Self

from hybridalloc.game import Action
from hybridalloc.game.heuristics import USUAL
from hybridalloc.game.observation import ObservationConfig


@dataclass(frozen=True, slots=True)
class SupportConfig:
    """The numbers that a categorical value can stand for."""

    bins: int
    """How many; odd, so that 0 is one of them."""
    most: float
    """The largest; minus it is the least."""
    unit: float
    """What counts as 1 where the numbers are transformed: below it they are spread
    evenly, above it their distances grow."""

    def __post_init__(self) -> None:
        if self.bins < 3 or self.bins % 2 == 0:
            raise ValueError(f"support: bins {self.bins} is not odd and at least 3")
        for name in ("most", "unit"):
            if not 0 < getattr(self, name) < float("inf"):
                raise ValueError(
                    f"support: {name} {getattr(self, name)} is not a positive number"
                )


@dataclass(frozen=True, slots=True)
class NetworkConfig:
    """The sizes of a network."""

    observation: ObservationConfig = field(default_factory=ObservationConfig)
    """How finely positions are observed."""
    width: int = 192
    """Numbers in a hidden state."""
    patch: int = 4
    """Spans, and rows, of a square patch of the profile: they are read as one."""
    channels: int = 16
    """Of the convolutions over the patches."""
    convolutions: int = 1
    """Residual blocks of them."""
    token_width: int = 48
    """Numbers that describe an access inside the network."""
    brief_width: int = 8
    """Numbers that are kept of each access, for the steps to come."""
    heads: int = 2
    """Of attention between accesses."""
    attentions: int = 2
    """Layers of it; in the last one, only the present access attends to others."""
    represent_blocks: int = 1
    """Residual blocks between what is observed and the hidden state."""
    dynamics_blocks: int = 2
    """Residual blocks between a hidden state and the next."""
    predict_blocks: int = 1
    """Residual blocks between a hidden state and the policy and value."""
    value: SupportConfig = SupportConfig(bins=61, most=2.0, unit=0.1)
    """Values: the return to come, as a share of the way from all-slow to the bound."""
    reward: SupportConfig = SupportConfig(bins=61, most=2.0, unit=0.01)
    """Rewards, on the same scale."""

    def __post_init__(self) -> None:
        for each in fields(self):
            size = getattr(self, each.name)
            least = 0 if each.name.endswith(("blocks", "convolutions")) else 1
            if isinstance(size, int) and size < least:
                raise ValueError(f"network: {each.name} {size} is not at least {least}")
        for name in ("spans", "rows"):
            size = getattr(self.observation, name)
            if size % self.patch:
                raise ValueError(
                    f"network: {size} {name} cannot be parted in patches of "
                    f"{self.patch}"
                )
        if self.token_width % self.heads:
            raise ValueError(
                f"network: token_width {self.token_width} cannot be parted among "
                f"{self.heads} heads"
            )

    @property
    def actions(self) -> int:
        """The three, and the options to follow a heuristic that the network knows."""
        return len(Action) + 2 * len(self.observation.heuristics)

    def as_dict(self) -> dict[str, Any]:
        """The sizes as plain numbers, by name."""
        return asdict(self)

    @classmethod
    def from_dict(cls, sizes: dict[str, Any]) -> Self:
        """A configuration from what ``as_dict`` gives.

        Raises:
            TypeError: There is a name that is not known, or a part is no dictionary.
            ValueError: A size is not possible.
        """
        parts = {
            "observation": ObservationConfig,
            "value": SupportConfig,
            "reward": SupportConfig,
        }
        made = {name: kind(**sizes[name]) for name, kind in parts.items()}
        return cls(**{**sizes, **made})


ADVISED = ObservationConfig(heuristics=USUAL)
"""What is observed of positions where the usual heuristics may be followed."""
CPU = NetworkConfig(ADVISED)
"""For self-play on a CPU core: under half a million parameters."""
GPU = NetworkConfig(
    ADVISED,
    width=512,
    channels=64,
    convolutions=3,
    token_width=128,
    brief_width=16,
    heads=8,
    attentions=4,
    represent_blocks=3,
    dynamics_blocks=3,
    predict_blocks=2,
)
"""For one accelerator."""
