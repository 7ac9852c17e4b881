"""PyTorch's module tree as a thin table over tracegrad's public names.

``import tracegrad.torch as torch`` gives a program PyTorch's spelling, and
``python -m tracegrad.torch script.py`` runs a script in which ``import torch``, and
every module path below it, finds tracegrad. Nothing is computed here: a name that is
looked up is the object that tracegrad has under its own name (`_table`).

Examples
--------
>>> import tracegrad as tg
>>> import tracegrad.torch as torch
>>> torch.nn.functional.relu is tg.nn.functional.relu
True
>>> torch.Tensor is tg.Tensor
True
"""

import sys as _sys

from tracegrad.torch._facade import Facade as _Facade
from tracegrad.torch._finder import FINDER as _FINDER
from tracegrad.torch._finder import aliased as aliased
from tracegrad.torch._finder import install as install

_FINDER.enter()
_sys.modules[__name__].__class__ = _Facade
