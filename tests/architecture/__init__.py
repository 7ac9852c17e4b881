"""The architecture as tests: who may import whom, the words, the docstrings."""
