"""einops works on tensors, with plain `import tracegrad` and with its layers."""

import subprocess
import sys

import pytest

pytest.importorskip("einops")

PLAIN = """
import tracegrad as tg, einops
x = tg.arange(6.0).reshape(2, 3).requires_grad_()
assert einops.rearrange(x, "a b -> b a").tolist() == [[0, 3], [1, 4], [2, 5]]
assert einops.reduce(x, "a b -> a", "mean").tolist() == [1, 4]
assert einops.repeat(x, "a b -> a b c", c=2).shape == (2, 3, 2)
packed, shapes = einops.pack([x, x], "* b")
assert packed.shape == (4, 3) and len(einops.unpack(packed, shapes, "* b")) == 2
assert einops.einsum(x, x, "a b, c b -> a c").tolist() == [[5, 14], [14, 50]]
einops.reduce(x, "a b ->", "sum").backward()
assert x.grad.tolist() == [[1, 1, 1], [1, 1, 1]]
"""
LAYERS = """
import tracegrad.torch as torch
from einops.layers.torch import EinMix, Rearrange, Reduce
x = torch.randn(2, 3)
assert isinstance(Rearrange("a b -> b a"), torch.nn.Module)
assert Rearrange("a b -> b a")(x).shape == (3, 2)
assert Reduce("a b -> a", "max")(x).shape == (2,)
mixed = EinMix("a b -> a c", weight_shape="b c", bias_shape="c", b=3, c=4)
assert mixed(x).shape == (2, 4) and len(list(mixed.parameters())) == 2
"""


@pytest.mark.parametrize(
    "code",
    [
        PLAIN,
        PLAIN.replace(
            "import tracegrad as tg, einops", "import einops, tracegrad as tg"
        ),
        LAYERS,
    ],
    ids=["tracegrad first", "einops first", "layers"],
)
def test_in_a_fresh_process(code):
    ended = "\nimport sys\nassert 'torch' not in sys.modules\n"
    subprocess.run([sys.executable, "-c", code + ended], check=True)
