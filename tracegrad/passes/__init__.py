"""Floor 4: pure functions from graphs to graphs."""
