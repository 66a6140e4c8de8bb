"""Tuning: plan, compile, learn what the plan costs, and plan again."""
