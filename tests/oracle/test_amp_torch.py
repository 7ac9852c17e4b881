"""autocast and GradScaler against PyTorch on the CPU."""

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import nn

torch = pytest.importorskip("torch")
pytest.importorskip("ml_dtypes")

pytestmark = pytest.mark.oracle

LIBRARIES = {tg: nn.functional, torch: torch.nn.functional}


def operands(lib, low):
    """Return a matrix, a vector, and a stack of matrices."""
    rng = np.random.default_rng(0)
    made = [
        lib.tensor(np.asarray(rng.uniform(0.1, 0.9, size=shape)).astype("f"))
        for shape in ((3, 3), (3,), (2, 3, 3), (1, 1, 4, 4, 4))
    ]
    return [t.to(low) for t in made] if low is not None else made


# Each with float32 operands (a matrix, a vector, a stack, a volume) and library, F.
OPERATIONS = {
    "mm": lambda t, F, a, v, b, c: t.mm(a, a),
    "matmul": lambda t, F, a, v, b, c: a @ a,
    "matrix vector": lambda t, F, a, v, b, c: a @ v,
    "vectors": lambda t, F, a, v, b, c: v @ v,
    "mv": lambda t, F, a, v, b, c: a.mv(v),
    "dot": lambda t, F, a, v, b, c: v.dot(v),
    "outer": lambda t, F, a, v, b, c: t.outer(v, v),
    "inner": lambda t, F, a, v, b, c: t.inner(a, a),
    "addmm": lambda t, F, a, v, b, c: t.addmm(a, a, a, beta=0.5),
    "addmv": lambda t, F, a, v, b, c: t.addmv(v, a, v),
    "addr": lambda t, F, a, v, b, c: t.addr(a, v, v),
    "bmm": lambda t, F, a, v, b, c: t.bmm(b, b),
    "baddbmm": lambda t, F, a, v, b, c: t.baddbmm(b, b, b),
    "addbmm": lambda t, F, a, v, b, c: t.addbmm(a, b, b),
    "kron": lambda t, F, a, v, b, c: t.kron(a, a),
    "einsum": lambda t, F, a, v, b, c: t.einsum("ij,jk->ik", a, a),
    "tensordot": lambda t, F, a, v, b, c: t.tensordot(a, a, 1),
    "linear": lambda t, F, a, v, b, c: F.linear(a, a, v),
    "conv1d": lambda t, F, a, v, b, c: F.conv1d(b, b),
    "conv2d": lambda t, F, a, v, b, c: F.conv2d(c[0], c[0, :, :, :2, :2]),
    "conv_transpose1d": lambda t, F, a, v, b, c: F.conv_transpose1d(
        b, t.stack([a, a, a])
    ),
    "add": lambda t, F, a, v, b, c: a + a,
    "exp": lambda t, F, a, v, b, c: a.exp(),
    "pow": lambda t, F, a, v, b, c: a**2,
    "sum": lambda t, F, a, v, b, c: a.sum(),
    "softmax": lambda t, F, a, v, b, c: a.softmax(0),
    "log_softmax": lambda t, F, a, v, b, c: a.log_softmax(0),
    "gelu": lambda t, F, a, v, b, c: F.gelu(a),
    "layer_norm": lambda t, F, a, v, b, c: F.layer_norm(a, (3,), v, v),
    "prod": lambda t, F, a, v, b, c: a.prod(),
    "trace": lambda t, F, a, v, b, c: a.trace(),
    "cosine_similarity": lambda t, F, a, v, b, c: F.cosine_similarity(a, a),
    "mse_loss": lambda t, F, a, v, b, c: F.mse_loss(a, a * a),
    "l1_loss": lambda t, F, a, v, b, c: F.l1_loss(a, a * a),
    "huber_loss": lambda t, F, a, v, b, c: F.huber_loss(a, a * a),
    "cross_entropy": lambda t, F, a, v, b, c: F.cross_entropy(a, t.tensor([0, 1, 2])),
    "bce": lambda t, F, a, v, b, c: F.binary_cross_entropy(a, a),
    "bce_with_logits": lambda t, F, a, v, b, c: F.binary_cross_entropy_with_logits(
        a, a
    ),
    "avg_pool3d": lambda t, F, a, v, b, c: F.avg_pool3d(c, 2),
    "max_pool3d": lambda t, F, a, v, b, c: F.max_pool3d(c, 2),
    "avg_pool2d": lambda t, F, a, v, b, c: F.avg_pool2d(c[0], 2),
    "pad constant": lambda t, F, a, v, b, c: F.pad(b, (1, 1)),
    "pad reflect": lambda t, F, a, v, b, c: F.pad(b, (1, 1), mode="reflect"),
    "pad replicate": lambda t, F, a, v, b, c: F.pad(b, (1, 1), mode="replicate"),
    "pad circular": lambda t, F, a, v, b, c: F.pad(b, (1, 1), mode="circular"),
    "cat": lambda t, F, a, v, b, c: t.cat([a, a.float()]),
    "stack": lambda t, F, a, v, b, c: t.stack([a, a.float()]),
    "index_copy": lambda t, F, a, v, b, c: a.float().index_copy(
        0, t.tensor([0]), a[:1]
    ),
    "float64": lambda t, F, a, v, b, c: a.double() @ a.double(),
    "integers": lambda t, F, a, v, b, c: a.long() @ a.long(),
}


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("low", [None, "bfloat16"])
@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_dtypes_of_operations(name, low, dtype):
    found = {}
    for lib, F in LIBRARIES.items():
        given = operands(lib, low and getattr(lib, dtype))
        with lib.autocast("cpu", dtype=getattr(lib, dtype)):
            result = OPERATIONS[name](lib, F, *given)
        kind = str(result.dtype).split(".")[-1]
        found[lib] = (kind, result.double().numpy())
    assert found[tg][0] == found[torch][0]
    tolerance = 0.02 if found[tg][0] in ("bfloat16", "float16") or low else 1e-5
    np.testing.assert_allclose(found[tg][1], found[torch][1], rtol=tolerance, atol=0.01)


def _models():
    ours = nn.Sequential(nn.Linear(6, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3))
    theirs = torch.nn.Sequential(
        torch.nn.Linear(6, 8),
        torch.nn.LayerNorm(8),
        torch.nn.GELU(),
        torch.nn.Linear(8, 3),
    )
    theirs.load_state_dict(
        {k: torch.tensor(v.numpy()) for k, v in ours.state_dict().items()}
    )
    return {tg: ours, torch: theirs}


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_training(dtype):
    rng = np.random.default_rng(1)
    data = rng.normal(size=(16, 6)).astype("f")
    labels = rng.integers(0, 3, 16)
    tg.manual_seed(0)
    losses = {}
    for lib, model in _models().items():
        x, y = lib.tensor(data), lib.tensor(labels)
        optimizer = lib.optim.SGD(model.parameters(), lr=0.1)
        scaler = lib.amp.GradScaler("cpu", init_scale=1024.0)
        found = losses.setdefault(lib, [])
        for _ in range(10):
            optimizer.zero_grad()
            with lib.autocast("cpu", dtype=getattr(lib, dtype)):
                loss = LIBRARIES[lib].cross_entropy(model(x), y)
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            found.append(loss.item())
            assert str(loss.dtype).endswith("float32")
        assert all(str(p.grad.dtype).endswith("float32") for p in model.parameters())
    np.testing.assert_allclose(losses[tg], losses[torch], rtol=0.01)


@pytest.mark.parametrize("bad", [None, float("inf"), float("nan")])
def test_scaler_states(bad):
    found = {}
    for lib in LIBRARIES:
        p = lib.nn.Parameter(lib.ones(3))
        optimizer = lib.optim.SGD([p], lr=0.1)
        scaler = lib.amp.GradScaler("cpu", init_scale=8.0, growth_interval=2)
        states = found.setdefault(lib, [scaler.state_dict()])
        for step in range(7):
            optimizer.zero_grad()
            scaler.scale((p * 3).sum()).backward()
            if bad is not None and step in (2, 5):
                p.grad[1] = bad
            scaler.unscale_(optimizer)
            scaler.step(optimizer)
            scaler.update()
            states.append(
                (scaler.state_dict(), np.float32(p.tolist()).round(5).tolist())
            )
        twin = lib.amp.GradScaler("cpu")
        twin.load_state_dict(scaler.state_dict())
        states.append(twin.get_scale())
        scaler.update(4.0)
        states.append(scaler.get_scale())
    assert found[tg] == found[torch]


def outcome(call):
    try:
        return call()
    except Exception as error:
        return next(
            k.__name__ for k in type(error).__mro__ if k.__module__ == "builtins"
        )


def _scaled(lib):
    p = lib.nn.Parameter(lib.ones(1))
    optimizer = lib.optim.SGD([p], lr=0.1)
    scaler = lib.amp.GradScaler("cpu")
    scaler.scale(p.sum()).backward()
    return scaler, optimizer


def _twice(lib, first, second):
    scaler, optimizer = _scaled(lib)
    getattr(scaler, first)(optimizer)
    getattr(scaler, second)(optimizer)


MISTAKES = [
    lambda t: _twice(t, "unscale_", "unscale_"),
    lambda t: _twice(t, "step", "step"),
    lambda t: _twice(t, "step", "unscale_"),
    lambda t: _scaled(t)[0].update(),
    lambda t: t.amp.GradScaler("cpu").update(),
    lambda t: t.amp.GradScaler("cpu").scale(3),
    lambda t: t.amp.GradScaler("cpu", growth_factor=1.0),
    lambda t: t.amp.GradScaler("cpu", backoff_factor=1.0),
    lambda t: t.amp.GradScaler("cpu").load_state_dict({}),
    lambda t: t.autocast("nowhere"),
]


@pytest.mark.parametrize("number", range(len(MISTAKES)))
def test_mistakes_raise_the_same_builtin(number):
    ours = outcome(lambda: MISTAKES[number](tg))
    assert isinstance(ours, str)
    assert ours == outcome(lambda: MISTAKES[number](torch))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_states_of_autocast():
    found = {}
    for lib in LIBRARIES:
        states = found.setdefault(lib, [])

        def look(lib=lib, states=states):
            x = lib.ones(2, 2)
            states.append(
                (
                    lib.is_autocast_enabled("cpu"),
                    lib.is_autocast_enabled(),
                    str(lib.get_autocast_dtype("cpu")).split(".")[-1],
                    lib.is_autocast_cache_enabled(),
                    str((x @ x).dtype).split(".")[-1],
                )
            )

        look()
        with lib.autocast("cpu", dtype=lib.float16):
            look()
            with lib.autocast("cpu", enabled=False):
                look()
                with lib.autocast("cpu", cache_enabled=False):
                    look()
            look()
            with lib.autocast("cpu", dtype=lib.float64):
                look()
            with lib.autocast("cuda"):
                look()
        lib.set_autocast_enabled("cpu", True)
        look()
        lib.set_autocast_enabled("cpu", False)
        look()
        lib.autocast("cpu")(look)()
        look()
    assert found[tg] == found[torch]


def _scale_function(lib):
    class Times(lib.autograd.Function):
        @staticmethod
        @lib.amp.custom_fwd(device_type="cpu", cast_inputs=lib.float32)
        def forward(ctx, x, y):
            ctx.save_for_backward(x, y)
            ctx.seen = (str(x.dtype), lib.is_autocast_enabled("cpu"))
            return x @ y

        @staticmethod
        @lib.amp.custom_bwd(device_type="cpu")
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            assert not lib.is_autocast_enabled("cpu")
            return g @ y.T, x.T @ g

    return Times


def test_custom_functions():
    found = {}
    for lib in LIBRARIES:
        function = _scale_function(lib)
        x = lib.ones(2, 2).to(lib.bfloat16).requires_grad_()
        y = lib.ones(2, 2, requires_grad=True)
        with lib.autocast("cpu"):
            result = function.apply(x, y)
        result.sum().backward()
        names = [str(t.dtype).split(".")[-1] for t in (result, x.grad, y.grad)]
        found[lib] = (names, y.grad.tolist())
    assert found[tg] == found[torch]
