"""The classes of results with names: ``return_types.max`` is what ``max(dim=…)`` gives.

Each is a named tuple; its name is that of the function.
"""

from tracegrad.dispatch.results import RETURN_TYPES

__all__ = list(RETURN_TYPES)
globals().update(RETURN_TYPES)
