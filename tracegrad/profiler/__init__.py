"""Wall times of steps and of named blocks, in the form of PyTorch's profiler.

What is measured is what the program names with `record_function`, and its steps; single
operators and their memory are not.
"""

from tracegrad.profiler.events import Averages, Event
from tracegrad.profiler.profile import (
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    tensorboard_trace_handler,
)

__all__ = [
    "Averages",
    "Event",
    "ProfilerAction",
    "ProfilerActivity",
    "profile",
    "record_function",
    "schedule",
    "tensorboard_trace_handler",
]
