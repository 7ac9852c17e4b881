"""What the parts of the stand-in for CuPy share: its names, and its counters."""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Final

_LIST: Final = Path(__file__).with_name("cupy_names.txt").read_text().splitlines()
CUPY_VERSION: Final = _LIST[0].removeprefix("# cupy ")
CUPY_NAMES: Final = frozenset(line for line in _LIST if not line.startswith("#"))


@dataclass(slots=True)
class Counters:
    """What happened on the pretended device since the stand-in was installed.

    Attributes
    ----------
    launches : int
        Launches of raw kernels.
    allocations : int
        Arrays that got memory of their own.
    host_to_device, device_to_host : int
        Copies, of which a scalar's conversion is one.
    synchronizations : int
        Times the host waited without a copy.
    """

    launches: int = 0
    allocations: int = 0
    host_to_device: int = 0
    device_to_host: int = 0
    synchronizations: int = 0

    def reset(self) -> None:
        """Set all to zero."""
        for field in fields(self):
            setattr(self, field.name, 0)


COUNTERS: Final = Counters()
