"""What ``torch.backends`` and ``torch.mps`` answer: honestly, and mostly no."""
