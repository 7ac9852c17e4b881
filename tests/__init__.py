"""The tests of tracegrad."""
