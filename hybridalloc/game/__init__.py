"""mallocGame: memory mapping as a game, a decision for each access (docs/game.md)."""

from hybridalloc.game.action import Action
from hybridalloc.game.advice import Advice, Option, advice
from hybridalloc.game.config import GameConfig
from hybridalloc.game.game import Game
from hybridalloc.game.state import State

__all__ = ["Action", "Advice", "Game", "GameConfig", "Option", "State", "advice"]
