"""What XLA dumps around Memory Space Assignment, and how well we agree with it."""
