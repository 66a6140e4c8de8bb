"""What a player sees of a position of the fast game, whatever the program."""

from hybridalloc.game.observation.config import ObservationConfig
from hybridalloc.game.observation.observer import Observation, Observer

__all__ = ["Observation", "ObservationConfig", "Observer"]
