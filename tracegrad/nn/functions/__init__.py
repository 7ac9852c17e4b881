"""Functions of several operators, gathered by `tracegrad.nn.functional`."""
