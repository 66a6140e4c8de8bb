"""Gumbel MuZero's tree search, batched over games.

It is that of *Policy improvement by planning with Gumbel* (Danihelka et al., ICLR 2022;
https://openreview.net/forum?id=bERaNdoegnO), undiscounted, with illegal actions.
"""

from hybridalloc.agents.muzero.search.config import MOST_SIMULATIONS, SearchConfig
from hybridalloc.agents.muzero.search.searching import SearchResult, search

__all__ = ["MOST_SIMULATIONS", "SearchConfig", "SearchResult", "search"]
