"""Learning agents: to come."""
