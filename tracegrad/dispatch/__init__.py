"""Floor 1: what an operator and a tensor are, and how one is applied to the other."""
