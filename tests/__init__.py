"""The tests: one folder per folder of the package, and `oracle/` against PyTorch."""
