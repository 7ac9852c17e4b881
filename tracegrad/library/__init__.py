"""Custom operators, as in `torch.library`.

`custom_op` makes a function that tracegrad does not look into an operator: it runs
eagerly, is one node of captured graphs, and takes part in autograd, `vmap` and
functional transforms by the rules that are registered for it. `opcheck` tests these.
"""

from tracegrad.library.checks import opcheck as opcheck
from tracegrad.library.definition import CustomOpDef as CustomOpDef
from tracegrad.library.definition import custom_op as custom_op
from tracegrad.library.registration import define as define
from tracegrad.library.registration import impl as impl
from tracegrad.library.registration import ops as ops
from tracegrad.library.registration import register_autograd as register_autograd
from tracegrad.library.registration import register_fake as register_fake
from tracegrad.library.registration import register_kernel as register_kernel
from tracegrad.library.registration import register_vmap as register_vmap
from tracegrad.library.schema import infer_schema as infer_schema
