"""The layers, a file per family."""
