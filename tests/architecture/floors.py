"""The floors: which part of the package may import which. Data only.

A *part* is a module or folder directly under `tracegrad/`. `docs/layout.md` says in
words what each one is for; a change here is a decision: record it in `docs/adr/`.
"""

from dataclasses import dataclass
from typing import final

PACKAGE = "tracegrad"

# What may stand in `Floor.may_import` beside names of parts and of modules.
PUBLIC_NAMES = PACKAGE
EVERYTHING_BELOW = "everything below"


@final
@dataclass(frozen=True, slots=True)
class Floor:
    """One row of the table.

    Attributes
    ----------
    number : float
        Its height. Two rows of one height are siblings, and know each other only if
        `may_import` says so.
    parts : tuple of str
        What stands on it.
    may_import : tuple of str
        Parts (`"ir"`), single modules of a part (`"codegen.source"`), `PUBLIC_NAMES`
        (`import tracegrad`) or `EVERYTHING_BELOW`. A part may always import itself.
    """

    number: float
    parts: tuple[str, ...]
    may_import: tuple[str, ...]


_0 = (
    "errors",
    "config",
    "dtypes",
    "numeric_limits",
    "device",
    "spec",
    "location",
    "sizes",
    "random_streams",
)
_1 = ("dispatch",)
_2 = ("ops",)
_3 = ("ir", "autograd")
_USERS = (
    "accelerator interop "
    "nn optim data export testing linalg fft special distributions amp serialization "
    "cuda debug library array_api return_types utils profiler multiprocessing "
    "backends"
)
# These two look inside the compiler: one writes graphs out, one compares stages.
_INSIDERS = ("export", "testing")
_4_TO_9 = ("passes", "codegen", "runtime", "compiler", "capture", "captured")

FLOORS = (
    Floor(0, _0, _0),
    Floor(1, _1, _0),
    Floor(2, _2, _0 + _1),
    Floor(3, ("ir",), _0 + _1),
    Floor(3, ("autograd",), _0 + _1 + _2),
    Floor(4, ("passes",), (*_0, *_1, *_2, "ir")),
    Floor(5, ("codegen",), (*_0, *_1, "ir")),
    Floor(6, ("runtime",), (*_0, "codegen.source")),
    Floor(7, ("compiler",), (*_0, "ir", "passes", "codegen", "runtime")),
    Floor(8, ("capture",), _0 + _1 + _2 + _3),
    Floor(9, ("captured",), (*_0, *_1, *_3, "runtime", "compiler", "capture")),
    Floor(10, ("api", "func"), (*_0, *_1, *_2, *_3, "capture", "captured")),
    Floor(
        11,
        tuple(name for name in _USERS.split() if name not in _INSIDERS),
        (PUBLIC_NAMES, *_0, *_1, *_2, "api", "func"),
    ),
    Floor(
        11,
        _INSIDERS,
        (PUBLIC_NAMES, *_0, *_1, *_2, *_3, *_4_TO_9, "api", "func"),
    ),
    Floor(11.5, ("torch",), (PUBLIC_NAMES, EVERYTHING_BELOW)),
    Floor(
        12,
        ("cli", "viewer", "__main__"),
        (PUBLIC_NAMES, EVERYTHING_BELOW, "cli", "viewer"),
    ),
)

# `tracegrad/__init__.py` itself: it gathers the public names from the floors under it.
SURFACE = Floor(11.5, ("__init__",), (EVERYTHING_BELOW,))

# Packages from outside, and the parts that may import them. A package that is not
# listed here is not a dependency.
OUTSIDE_PACKAGES: dict[str, tuple[str, ...]] = {
    "numpy": tuple(part for floor in FLOORS for part in floor.parts),
    "ml_dtypes": ("dtypes",),
    "cupy": ("device", "runtime", "cuda"),
    "cupyx": ("device", "runtime", "cuda"),
    "networkx": ("passes", "ir", "export"),
    "jinja2": ("codegen",),
    "rich": ("cli",),
    "tensorboardX": ("utils",),
}

# Written by tools/generate.py: they name types of the methods that higher floors attach
# to Tensor, and import nothing when a program runs.
GENERATED_STUBS = ("__init__.pyi", "dispatch/tensor.pyi")

# What `import tracegrad` must not load: these cost time that eager mode does not need.
NOT_AT_IMPORT = ("cupy", "jinja2", "networkx", "rich", "scipy", "torch")
