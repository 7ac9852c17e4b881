"""Helpers for tests of programs that use tracegrad."""

from tracegrad.testing.closeness import assert_allclose, assert_close

__all__ = ["assert_allclose", "assert_close"]
