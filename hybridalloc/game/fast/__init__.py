"""The fast twin of the game, for self-play and search."""

from hybridalloc.game.fast.game import FastGame
from hybridalloc.game.fast.position import Position

__all__ = ["FastGame", "Position"]
