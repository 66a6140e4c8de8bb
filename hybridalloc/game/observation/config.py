"""How finely a position is observed."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, slots=True)
class ObservationConfig:
    """The sizes of an observation."""

    past: int = 8
    """Spans of time before the present: a copy may have begun there."""
    future: int = 24
    """Spans of time from the present on."""
    rows: int = 32
    """Equal parts of the capacity of fast memory."""
    tokens: int = 16
    """Coming accesses, the present one first."""

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise ValueError(
                    f"observation: {field.name} {getattr(self, field.name)} is not at "
                    f"least 1"
                )

    @property
    def spans(self) -> int:
        """Spans of time, before and after the present."""
        return self.past + self.future
