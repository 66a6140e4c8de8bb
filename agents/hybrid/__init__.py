"""Agents together with other strategies."""

from hybridalloc.agents.hybrid.agent import AgentHybrid, AgentHybridConfig

__all__ = ["AgentHybrid", "AgentHybridConfig"]
