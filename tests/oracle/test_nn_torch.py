"""Layers against PyTorch: first values bit for bit, forward, backward, state, text."""

import copy

import numpy as np
import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")


def _rng():
    return np.random.default_rng(4)


def _normals(*shape):
    return lambda: _rng().normal(size=shape)


def _integers(high, *shape):
    return lambda: _rng().integers(0, high, shape)


IMAGES = _normals(3, 4, 7, 6)
ROWS = _normals(5, 4)
SEQUENCES = _normals(3, 4, 7)

# Name: how the layer is made, and what it is given.
LAYERS = {
    "Identity": (lambda nn: nn.Identity(3, a=2), ROWS),
    "Linear": (lambda nn: nn.Linear(4, 3), ROWS),
    "Linear without bias": (lambda nn: nn.Linear(4, 3, bias=False), ROWS),
    "Linear of 3 dims": (lambda nn: nn.Linear(7, 3), SEQUENCES),
    "Embedding": (lambda nn: nn.Embedding(6, 3), _integers(6, 2, 5)),
    "Embedding padded": (
        lambda nn: nn.Embedding(6, 3, padding_idx=-5),
        _integers(6, 9),
    ),
    "Conv1d": (lambda nn: nn.Conv1d(4, 6, 3, 2, 1), SEQUENCES),
    "Conv2d": (lambda nn: nn.Conv2d(4, 6, 3), IMAGES),
    "Conv2d all": (
        lambda nn: nn.Conv2d(4, 6, (3, 2), (2, 1), (1, 0), (1, 2), 2, False),
        IMAGES,
    ),
    "Conv2d same": (lambda nn: nn.Conv2d(4, 6, 3, padding="same"), IMAGES),
    "Conv2d circular": (
        lambda nn: nn.Conv2d(4, 6, 3, padding=1, padding_mode="circular"),
        IMAGES,
    ),
    "Conv2d reflect": (
        lambda nn: nn.Conv2d(4, 6, 3, padding=(1, 2), padding_mode="reflect"),
        IMAGES,
    ),
    "Conv3d": (lambda nn: nn.Conv3d(2, 3, 2), _normals(2, 2, 3, 4, 3)),
    "ConvTranspose1d": (lambda nn: nn.ConvTranspose1d(4, 6, 3, 2), SEQUENCES),
    "ConvTranspose2d": (
        lambda nn: nn.ConvTranspose2d(4, 6, 3, 2, 1, output_padding=1, groups=2),
        IMAGES,
    ),
    "BatchNorm1d": (lambda nn: nn.BatchNorm1d(4), ROWS),
    "BatchNorm1d of 3 dims": (lambda nn: nn.BatchNorm1d(4, momentum=0.3), SEQUENCES),
    "BatchNorm2d": (lambda nn: nn.BatchNorm2d(4, eps=0.1), IMAGES),
    "BatchNorm2d plain": (lambda nn: nn.BatchNorm2d(4, affine=False), IMAGES),
    "BatchNorm2d untracked": (
        lambda nn: nn.BatchNorm2d(4, track_running_stats=False),
        IMAGES,
    ),
    "BatchNorm2d cumulative": (lambda nn: nn.BatchNorm2d(4, momentum=None), IMAGES),
    "BatchNorm3d": (lambda nn: nn.BatchNorm3d(2), _normals(2, 2, 3, 4, 3)),
    "InstanceNorm1d": (lambda nn: nn.InstanceNorm1d(4, affine=True), SEQUENCES),
    "InstanceNorm2d": (
        lambda nn: nn.InstanceNorm2d(4, track_running_stats=True),
        IMAGES,
    ),
    "LayerNorm": (lambda nn: nn.LayerNorm(4), ROWS),
    "LayerNorm of 2 dims": (lambda nn: nn.LayerNorm((7, 6), bias=False), IMAGES),
    "LayerNorm plain": (lambda nn: nn.LayerNorm(4, elementwise_affine=False), ROWS),
    "GroupNorm": (lambda nn: nn.GroupNorm(2, 4), IMAGES),
    "GroupNorm plain": (lambda nn: nn.GroupNorm(4, 4, affine=False), ROWS),
    "RMSNorm": (lambda nn: nn.RMSNorm(4), ROWS),
    "RMSNorm of 2 dims": (lambda nn: nn.RMSNorm([7, 6], eps=0.1), IMAGES),
    "Dropout": (lambda nn: nn.Dropout(0.3), ROWS),
    "Dropout1d": (lambda nn: nn.Dropout1d(0.3), SEQUENCES),
    "Dropout2d": (lambda nn: nn.Dropout2d(0.3), IMAGES),
    "MaxPool1d": (lambda nn: nn.MaxPool1d(3), SEQUENCES),
    "MaxPool2d": (lambda nn: nn.MaxPool2d(2, padding=1), IMAGES),
    "AvgPool1d": (lambda nn: nn.AvgPool1d(3, 2), SEQUENCES),
    "AvgPool2d": (lambda nn: nn.AvgPool2d((3, 2), count_include_pad=False), IMAGES),
    "AdaptiveAvgPool1d": (lambda nn: nn.AdaptiveAvgPool1d(3), SEQUENCES),
    "AdaptiveAvgPool2d": (lambda nn: nn.AdaptiveAvgPool2d((1, 1)), IMAGES),
    "AdaptiveMaxPool2d": (lambda nn: nn.AdaptiveMaxPool2d((3, 2)), IMAGES),
    "Flatten": (lambda nn: nn.Flatten(), IMAGES),
    "Unflatten": (lambda nn: nn.Unflatten(1, (2, 2)), IMAGES),
    "Sequential": (
        lambda nn: nn.Sequential(
            nn.Conv2d(4, 3, 3), nn.ReLU(), nn.Flatten(), nn.Linear(60, 2)
        ),
        IMAGES,
    ),
    "ReLU": (lambda nn: nn.ReLU(), ROWS),
    "ReLU6": (lambda nn: nn.ReLU6(), ROWS),
    "LeakyReLU": (lambda nn: nn.LeakyReLU(0.2), ROWS),
    "PReLU": (lambda nn: nn.PReLU(4), ROWS),
    "ELU": (lambda nn: nn.ELU(0.5), ROWS),
    "CELU": (lambda nn: nn.CELU(0.5), ROWS),
    "SELU": (lambda nn: nn.SELU(), ROWS),
    "GELU": (lambda nn: nn.GELU(), ROWS),
    "GELU tanh": (lambda nn: nn.GELU(approximate="tanh"), ROWS),
    "SiLU": (lambda nn: nn.SiLU(), ROWS),
    "Mish": (lambda nn: nn.Mish(), ROWS),
    "Sigmoid": (lambda nn: nn.Sigmoid(), ROWS),
    "LogSigmoid": (lambda nn: nn.LogSigmoid(), ROWS),
    "Tanh": (lambda nn: nn.Tanh(), ROWS),
    "Hardtanh": (lambda nn: nn.Hardtanh(-0.5, 2.0), ROWS),
    "Hardsigmoid": (lambda nn: nn.Hardsigmoid(), ROWS),
    "Hardswish": (lambda nn: nn.Hardswish(), ROWS),
    "Hardshrink": (lambda nn: nn.Hardshrink(), ROWS),
    "Softshrink": (lambda nn: nn.Softshrink(0.2), ROWS),
    "Tanhshrink": (lambda nn: nn.Tanhshrink(), ROWS),
    "Softplus": (lambda nn: nn.Softplus(2.0), ROWS),
    "Softsign": (lambda nn: nn.Softsign(), ROWS),
    "Threshold": (lambda nn: nn.Threshold(0.1, 20.0), ROWS),
    "Softmax": (lambda nn: nn.Softmax(dim=1), ROWS),
    "LogSoftmax": (lambda nn: nn.LogSoftmax(dim=0), ROWS),
    "Softmin": (lambda nn: nn.Softmin(dim=-1), ROWS),
    "Softmax2d": (lambda nn: nn.Softmax2d(), IMAGES),
    "GLU": (lambda nn: nn.GLU(), ROWS),
}


def _made(name):
    make, _ = LAYERS[name]
    torch.manual_seed(11)
    tg.manual_seed(11)
    return make(tg.nn), make(torch.nn)


def _same_states(ours, theirs, **tolerance):
    ours, theirs = ours.state_dict(), theirs.state_dict()
    assert list(ours) == list(theirs)
    for name, value in theirs.items():
        assert str(ours[name].dtype).split(".")[-1] == str(value.dtype).split(".")[-1]
        np.testing.assert_allclose(
            ours[name].numpy(),
            value.numpy(),
            err_msg=name,
            **(tolerance or {"rtol": 0}),
        )


@pytest.mark.parametrize("name", LAYERS)
def test_initial_values_and_text(name):
    ours, theirs = _made(name)
    _same_states(ours, theirs)
    assert repr(ours) == repr(theirs)
    np.testing.assert_array_equal(tg.rand(3).numpy(), torch.rand(3).numpy())


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", LAYERS)
def test_forward_and_backward(name, training):
    ours, theirs = _made(name)
    ours.double().train(training)
    theirs.double().train(training)
    data = LAYERS[name][1]()
    given, their_given = tg.tensor(data), torch.tensor(data)
    if data.dtype.kind == "f":
        given.requires_grad_()
        their_given.requires_grad_()
    torch.manual_seed(12)
    tg.manual_seed(12)
    for _ in range(2):
        found, wanted = ours(given), theirs(their_given)
        np.testing.assert_allclose(
            found.detach().numpy(), wanted.detach().numpy(), rtol=1e-9, atol=1e-11
        )
        if wanted.requires_grad:
            (found * found.cos()).sum().backward()
            (wanted * wanted.cos()).sum().backward()
    _same_gradients(given, their_given)
    for parameter, their_parameter in zip(
        ours.parameters(), theirs.parameters(), strict=True
    ):
        _same_gradients(parameter, their_parameter)
    _same_states(ours, theirs, rtol=1e-6)


def _same_gradients(ours, theirs):
    assert (ours.grad is None) == (theirs.grad is None)
    if theirs.grad is not None:
        np.testing.assert_allclose(
            ours.grad.numpy(), theirs.grad.numpy(), rtol=1e-7, atol=1e-9
        )


@pytest.mark.parametrize("name", ["LayerNorm", "GroupNorm", "RMSNorm", "BatchNorm2d"])
def test_second_derivative(name):
    ours, theirs = _made(name)
    ours.double()
    theirs.double()
    data = LAYERS[name][1]()
    results = []
    for library, layer in ((tg, ours), (torch, theirs)):
        x = library.tensor(data, requires_grad=True)
        leaves = [x, *layer.parameters()]
        first = library.autograd.grad(layer(x).cos().sum(), leaves, create_graph=True)
        total = sum((g * g).sum() for g in first)
        found = library.autograd.grad(total, leaves, materialize_grads=True)
        results.append([g.detach().numpy() for g in found])
    for found, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize(
    "name", ["LayerNorm", "GroupNorm", "RMSNorm", "BatchNorm1d", "Conv2d", "Linear"]
)
def test_half(name):
    ours, theirs = _made(name)
    data = LAYERS[name][1]().astype("float16")
    found = ours.half()(tg.tensor(data))
    wanted = theirs.half()(torch.tensor(data))
    assert found.dtype is tg.float16
    np.testing.assert_allclose(
        found.detach().float().numpy(),
        wanted.detach().float().numpy(),
        rtol=4e-3,
        atol=4e-3,
    )


LOSSES = {
    "L1Loss": (lambda nn: nn.L1Loss(), "real"),
    "MSELoss": (lambda nn: nn.MSELoss(reduction="sum"), "real"),
    "SmoothL1Loss": (lambda nn: nn.SmoothL1Loss(beta=0.5), "real"),
    "HuberLoss": (lambda nn: nn.HuberLoss(delta=0.5), "real"),
    "CrossEntropyLoss": (lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1), "class"),
    "CrossEntropyLoss ignored": (
        lambda nn: nn.CrossEntropyLoss(ignore_index=2, reduction="none"),
        "class",
    ),
    "NLLLoss": (lambda nn: nn.NLLLoss(), "class"),
    "BCELoss": (lambda nn: nn.BCELoss(), "unit"),
    "BCEWithLogitsLoss": (lambda nn: nn.BCEWithLogitsLoss(), "yes"),
    "KLDivLoss": (lambda nn: nn.KLDivLoss(reduction="batchmean"), "unit"),
    "PoissonNLLLoss": (lambda nn: nn.PoissonNLLLoss(), "unit"),
    "HingeEmbeddingLoss": (lambda nn: nn.HingeEmbeddingLoss(), "sign"),
    "SoftMarginLoss": (lambda nn: nn.SoftMarginLoss(), "sign"),
}


def _target(kind, shape):
    rng = np.random.default_rng(9)
    if kind == "class":
        return rng.integers(0, shape[1], shape[0])
    if kind == "sign":
        return rng.choice([-1.0, 1.0], shape)
    return rng.normal(size=shape) if kind == "real" else rng.uniform(size=shape)


@pytest.mark.parametrize("name", LOSSES)
def test_losses(name):
    make, kind = LOSSES[name]
    data = _rng().uniform(0.1, 0.9, (5, 4)) if kind == "unit" else ROWS()
    target = _target(kind, (5, 4))
    ours, theirs = make(tg.nn), make(torch.nn)
    assert repr(ours) == repr(theirs)
    x, their_x = (
        tg.tensor(data, requires_grad=True),
        torch.tensor(data, requires_grad=True),
    )
    found, wanted = ours(x, tg.tensor(target)), theirs(their_x, torch.tensor(target))
    np.testing.assert_allclose(
        found.detach().numpy(), wanted.detach().numpy(), rtol=1e-10
    )
    found.sum().backward()
    wanted.sum().backward()
    _same_gradients(x, their_x)


def test_weighted_cross_entropy_keeps_its_weight_as_a_buffer():
    weight = [1.0, 2.0, 0.5, 1.0]
    ours = tg.nn.CrossEntropyLoss(tg.tensor(weight))
    theirs = torch.nn.CrossEntropyLoss(torch.tensor(weight))
    data, target = ROWS().astype("float32"), _target("class", (5, 4))
    found = ours(tg.tensor(data), tg.tensor(target))
    wanted = theirs(torch.tensor(data), torch.tensor(target))
    np.testing.assert_allclose(found.item(), wanted.item(), rtol=1e-6)
    assert list(ours.state_dict()) == list(theirs.state_dict()) == ["weight"]


INITIAL = {
    "uniform_": lambda init, t: init.uniform_(t, -1, 2),
    "normal_": lambda init, t: init.normal_(t, 1, 2),
    "trunc_normal_": lambda init, t: init.trunc_normal_(t, std=0.5, a=-0.6, b=0.7),
    "trunc_normal_ of a tail": lambda init, t: init.trunc_normal_(t, a=1.0, b=2.5),
    "constant_": lambda init, t: init.constant_(t, 3),
    "ones_": lambda init, t: init.ones_(t),
    "zeros_": lambda init, t: init.zeros_(t),
    "eye_": lambda init, t: init.eye_(t),
    "xavier_uniform_": lambda init, t: init.xavier_uniform_(t, gain=2.0),
    "xavier_normal_": lambda init, t: init.xavier_normal_(t),
    "kaiming_uniform_": lambda init, t: init.kaiming_uniform_(t, mode="fan_out"),
    "kaiming_normal_": lambda init, t: init.kaiming_normal_(t, nonlinearity="relu"),
    "sparse_": lambda init, t: init.sparse_(t, 0.3),
}


@pytest.mark.parametrize("shape", [(5, 4), (3, 3)])
@pytest.mark.parametrize("name", INITIAL)
def test_init(name, shape):
    torch.manual_seed(3)
    tg.manual_seed(3)
    found = INITIAL[name](tg.nn.init, tg.zeros(*shape))
    wanted = INITIAL[name](torch.nn.init, torch.zeros(*shape))
    np.testing.assert_array_equal(found.numpy(), wanted.numpy())


def test_dirac_and_gains():
    for groups in (1, 2):
        found = tg.nn.init.dirac_(tg.ones(4, 2, 3, 3), groups)
        wanted = torch.nn.init.dirac_(torch.ones(4, 2, 3, 3), groups)
        np.testing.assert_array_equal(found.numpy(), wanted.numpy())
    for name in ("linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"):
        gain = torch.nn.init.calculate_gain(name)
        assert tg.nn.init.calculate_gain(name) == gain


def _with_gradients(library):
    parameters = [library.ones(2, 3), library.ones(4)]
    for parameter, factor in zip(parameters, (3.0, -1.0), strict=True):
        parameter.requires_grad_()
        parameter.grad = library.ones(parameter.shape) * factor
    return parameters


@pytest.mark.parametrize("order", [1.0, 2.0, 3.0, float("inf")])
@pytest.mark.parametrize("limit", [0.5, 100.0])
def test_clip_grad_norm(order, limit):
    ours, theirs = _with_gradients(tg), _with_gradients(torch)
    found = tg.nn.utils.clip_grad_norm_(ours, limit, order)
    wanted = torch.nn.utils.clip_grad_norm_(theirs, limit, order)
    np.testing.assert_allclose(found.item(), wanted.item(), rtol=1e-6)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.grad.numpy(), b.grad.numpy(), rtol=1e-6)


def test_clip_grad_value():
    ours, theirs = _with_gradients(tg), _with_gradients(torch)
    tg.nn.utils.clip_grad_value_(ours, 2.0)
    torch.nn.utils.clip_grad_value_(theirs, 2.0)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a.grad.numpy(), b.grad.numpy())


def _hooked_run(library):
    """Run a module with all hooks, and return what they saw, in order."""
    seen = []
    layer = library.nn.Linear(2, 2)
    with library.no_grad():
        layer.weight.fill_(0.5)
        layer.bias.fill_(1.0)

    def note(what):
        def hook(module, *values):
            seen.append((what, [_plain(v) for v in values]))

        return hook

    layer.register_full_backward_pre_hook(note("backward pre"))
    layer.register_forward_pre_hook(note("forward pre"))
    layer.register_forward_hook(note("forward"))
    layer.register_full_backward_hook(note("backward"))
    for requires_grad in (True, False):
        x = library.ones(3, 2, requires_grad=requires_grad)
        layer(x).sum().backward()
    return seen


def _plain(value):
    if isinstance(value, tuple):
        return [None if v is None else v.tolist() for v in value]
    return value.tolist()


@pytest.mark.filterwarnings("ignore:Full backward hook is firing")
def test_hooks_see_the_same():
    assert _hooked_run(tg) == _hooked_run(torch)


def test_a_backward_hook_replaces_gradients():
    results = []
    for library in (tg, torch):
        layer = library.nn.Linear(2, 1, bias=False)
        with library.no_grad():
            layer.weight.fill_(1.0)
        layer.register_full_backward_pre_hook(lambda module, out: (out[0] * 2,))
        layer.register_full_backward_hook(lambda module, given, out: (given[0] * 3,))
        x = library.ones(1, 2, requires_grad=True)
        layer(x).sum().backward()
        results.append((x.grad.tolist(), layer.weight.grad.tolist()))
    assert results[0] == results[1] == ([[6.0, 6.0]], [[2.0, 2.0]])


class _Net:
    """Builds the same network in both libraries."""

    def __new__(cls, library):
        nn = library.nn

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.first = nn.Linear(2, 3)
                self.norm = nn.BatchNorm1d(3)
                self.rest = nn.ModuleDict({"a": nn.Linear(3, 3), "b": nn.ReLU()})
                self.listed = nn.ModuleList([nn.Linear(3, 3), self.first])
                self.scale = nn.Parameter(library.ones(1))
                self.register_buffer("shift", library.zeros(2))
                self.register_buffer("hidden", library.zeros(2), persistent=False)
                self.scales = nn.ParameterList([library.ones(2), library.ones(3)])
                self.named = nn.ParameterDict({"left": library.ones(2)})
                self.nothing = None

        return Net()


def test_names_orders_and_text():
    ours, theirs = _Net(tg), _Net(torch)
    for listing in ("named_parameters", "named_buffers", "named_modules"):
        found = [name for name, _ in getattr(ours, listing)()]
        assert found == [name for name, _ in getattr(theirs, listing)()], listing
    assert list(ours.state_dict()) == list(theirs.state_dict())
    assert [n for n, _ in ours.named_children()] == [
        n for n, _ in theirs.named_children()
    ]
    duplicates = [n for n, _ in ours.named_parameters(remove_duplicate=False)]
    assert duplicates == [n for n, _ in theirs.named_parameters(remove_duplicate=False)]
    assert _without_dtypes(repr(ours)) == _without_dtypes(repr(theirs))


def _without_dtypes(text):
    return "\n".join(
        line for line in text.split("\n") if "Parameter containing" not in line
    )


def test_loading_reports_the_same_keys():
    for library in (tg, torch):
        net = _Net(library)
        state = copy.copy(net.state_dict())
        del state["first.weight"]
        state["more"] = library.ones(1)
        keys = net.load_state_dict(state, strict=False)
        # "listed.1" is the module "first" under another name.
        assert keys.missing_keys == ["first.weight"]
        assert keys.unexpected_keys == ["more"]
        state["scale"] = library.ones(3)
        with pytest.raises(RuntimeError, match="size mismatch") as error:
            net.load_state_dict(state)
        for part in ("Missing key", "Unexpected key", '"first.weight"', '"more"'):
            assert part in str(error.value)


def test_state_dicts_are_exchanged():
    ours, theirs = _Net(tg), _Net(torch)
    state = {k: tg.from_numpy(v.numpy()) for k, v in theirs.state_dict().items()}
    ours.load_state_dict(state)
    _same_states(ours, theirs)
