"""The strategies ``random-play`` and ``greedy-play``: mallocGame, again and again."""

from hybridalloc.baselines.play.greedy_play import GreedyPlay, GreedyPlayConfig
from hybridalloc.baselines.play.random_play import RandomPlay, RandomPlayConfig

__all__ = ["GreedyPlay", "GreedyPlayConfig", "RandomPlay", "RandomPlayConfig"]
