"""What is said of wrong calls: of every public function, layer and optimizer."""

import inspect
import re
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tracegrad as tg
from tracegrad import errors

functional = tg.nn.functional

# They act on the process, or take anything.
_LEFT_OUT = {"manual_seed", "seed", "set_printoptions", "trace", "set_grad_enabled"}
_PRIVATE = re.compile(r"(?<![\w.'])_[a-z]\w*|StandIn|<lambda>|<locals>")


def functions() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Return every public function and method, by the name that users write."""
    for place, namespace in (("tg", tg), ("F", functional)):
        for name, value in sorted(vars(namespace).items()):
            if _is_public(name, value) and name not in _LEFT_OUT:
                yield f"{place}.{name}", value
    for name, value in sorted(vars(tg.Tensor).items()):
        if _is_public(name, value):
            yield f"Tensor.{name}", value


def _is_public(name: str, value: Any) -> bool:
    return isinstance(value, types.FunctionType) and not name.startswith("_")


FUNCTIONS = dict(functions())


def raised(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Exception | None:
    """Return what a call raises, None if nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            function(*args, **kwargs)
        except Exception as error:
            return error
    return None


def fault_of(name: str, error: Exception) -> str:
    """Return what is wrong with a message; empty if nothing."""
    plain, text = name.rpartition(".")[2], str(error)
    ours = isinstance(error, errors.TracegradError)
    pythons = type(error) is TypeError and f"{plain}()" in text
    if not (ours or pythons):
        return f"{type(error).__name__} is neither ours nor about the arguments: {text}"
    if _PRIVATE.search(text):
        return f"an internal name is shown: {text}"
    if not re.match(rf"(Tensor\.)?{re.escape(plain)}\b", text):
        return f"it does not begin with {plain}: {text}"
    return ""


def test_all_are_looked_at() -> None:
    assert {"tg.add", "tg.cat", "tg.ones", "F.dropout", "Tensor.add_"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_unknown_keyword(name: str) -> None:
    error = raised(FUNCTIONS[name], tg.ones(2, 3), no_such_argument=1)
    if error is not None or "**" not in str(inspect.signature(FUNCTIONS[name])):
        assert isinstance(error, TypeError)
        assert fault_of(name, error) == ""


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize(
    "bad", ["a", None, object(), [1.0], float("nan"), (1, 2), b"x", {}], ids=repr
)
def test_wrong_values(name: str, bad: Any) -> None:
    x = tg.ones(2, 3)
    first = () if name.startswith("Tensor.") else ((bad,), (bad, x))
    for args in ((x, bad), (x, x, bad), *first):
        error = raised(FUNCTIONS[name], *args)
        assert error is None or fault_of(name, error) == "", args


@pytest.mark.parametrize("name", FUNCTIONS)
def test_too_few_and_too_many_arguments(name: str) -> None:
    x = tg.ones(2, 3)
    for args in ((x,), (x,) * 12, () if name.startswith("tg.") else (x,)):
        error = raised(FUNCTIONS[name], *args)
        assert error is None or fault_of(name, error) == "", args


def named(name: str, program: Callable[[], Any], *parts: str) -> Any:
    return pytest.param(program, parts, id=name)


def with_array() -> tg.Tensor:
    return tg.nn.Linear(3, 2)(np.ones((2, 3)))


@pytest.mark.parametrize(
    ("program", "parts"),
    [
        named(
            "missing",
            lambda: tg.add(tg.ones(2)),
            "add() missing 1 required positional argument: 'other'",
            "it takes add(input, other, *, alpha=1)",
        ),
        named(
            "two missing",
            lambda: tg.lerp(tg.ones(2)),
            "lerp() missing 2 required positional arguments: 'end' and 'weight'",
        ),
        named(
            "misspelt",
            lambda: tg.sum(tg.ones(2), dimm=0),
            "sum() got an unexpected keyword argument 'dimm' (did you mean 'dim'?)",
            "it takes sum(input, dim=None, keepdim=False, *, dtype=None)",
        ),
        named(
            "twice",
            lambda: tg.sum(tg.ones(2), 0, dim=0),
            "sum() got multiple values for argument 'dim'",
        ),
        named(
            "twice, once in NumPy's words",
            lambda: tg.max(tg.ones(2), dim=0, axis=0),
            "max() got multiple values for argument 'dim'",
        ),
        named(
            "too many",
            lambda: tg.exp(tg.ones(2), 1),
            "exp() takes 1 positional argument but 2 were given; it takes exp(input)",
        ),
        named(
            "fill value",
            lambda: tg.full((2,), "a"),
            "full(): argument 'fill_value' must be a number, not str 'a'",
        ),
        named("dtype of ones", lambda: tg.ones(2, dtype="f4"), "ones(): argument"),
        named(
            "several integers for one",
            lambda: tg.tril(tg.ones(2, 2), (1, 2)),
            "tril(): argument 'diagonal' must be an int, not tuple (1, 2)",
        ),
        named(
            "a float for an integer",
            lambda: tg.topk(tg.ones(3), float("nan")),
            "topk(): argument 'k' must be an int, not float nan",
        ),
        named(
            "a tensor for a number",
            lambda: functional.leaky_relu(tg.ones(2), tg.ones(2)),
            "leaky_relu(): argument 'negative_slope' must be a number, not Tensor",
        ),
        named(
            "the function that was called, and the part that failed",
            lambda: tg.nn.Linear(4, 2)(tg.ones(2, 3)),
            "linear: [2, 3] and [4, 2] do not fit",
            "(in matmul)",
        ),
        named(
            "in place",
            lambda: tg.ones(2).add_(tg.ones(5)),
            "add_: shapes [2] and [5] do not broadcast",
        ),
        named(
            "an array",
            with_array,
            "linear: the operands must have one dtype, not float64 and float32",
            "a NumPy array of float64 was given",
            "tracegrad.tensor(array, dtype=…)",
        ),
        named(
            "a loss",
            lambda: functional.cross_entropy(tg.ones(2, 3), tg.tensor([0, 3])),
            "cross_entropy: index 3 is out of bounds for dimension 1 with size 3",
        ),
        named(
            "probabilities",
            lambda: functional.binary_cross_entropy(tg.ones(2) * 2, tg.ones(2)),
            "binary_cross_entropy: the probabilities must be between 0 and 1",
        ),
        named(
            "tensors in one",
            lambda: tg.cat(tg.ones(2, 2)),
            "cat(): argument 'tensors' must be a sequence of Tensors, not Tensor",
        ),
        named("trace", lambda: tg.trace(3), "takes a function", "a Tensor", "not int"),
        named(
            "seed", lambda: tg.manual_seed("x"), "argument 'seed' must be an int", "'x'"
        ),
    ],
)
def test_words(program: Callable[[], Any], parts: tuple[str, ...]) -> None:
    with pytest.raises(errors.TracegradError) as caught:
        program()
    assert [part for part in parts if part not in str(caught.value)] == []


def failing(x: tg.Tensor) -> tg.Tensor:
    raise TypeError("the user's own")


def test_an_error_of_a_function_of_the_users_stays() -> None:
    x = tg.ones(2, requires_grad=True)
    x.register_hook(failing)
    with pytest.raises(TypeError, match=r"^the user's own$") as caught:
        x.sum().backward()
    assert type(caught.value) is TypeError
    sequential = tg.nn.Sequential()
    sequential.register_forward_hook(failing)  # too few parameters, by Python's words
    with pytest.raises(TypeError, match="failing"):
        sequential(x)


# -- constructors ---------------------------------------------------------------------

_NEEDED = {
    "kernel_size": 2,
    "params": [tg.ones(2, requires_grad=True)],
    "milestones": [2],
    "lr_lambda": abs,
    "schedulers": [],
    "modules": None,
}


def constructors() -> Iterator[tuple[str, type]]:
    schedules = tg.optim.lr_scheduler
    for namespace in (tg.nn, tg.optim, schedules):
        for name, value in sorted(vars(namespace).items()):
            ours = getattr(value, "__module__", "").startswith("tracegrad")
            if isinstance(value, type) and ours and not name.startswith("_"):
                yield name, value


def _text(annotation: Any) -> str:
    if isinstance(annotation, str):
        return annotation
    return inspect.formatannotation(annotation)


def numeric_parameters() -> Iterator[Any]:
    """Return each parameter of a constructor that must be a number."""
    for name, cls in constructors():
        for parameter in inspect.signature(cls).parameters.values():
            if _text(parameter.annotation) in ("int", "float", "float | Tensor"):
                yield pytest.param(cls, parameter.name, id=f"{name}-{parameter.name}")


def _given(cls: type) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for parameter in inspect.signature(cls).parameters.values():
        if parameter.name == "optimizer":
            given["optimizer"] = tg.optim.SGD(_NEEDED["params"], lr=0.1)
        elif parameter.default is parameter.empty:
            given[parameter.name] = _NEEDED.get(parameter.name, 4)
    return given


@pytest.mark.parametrize(("cls", "parameter"), list(numeric_parameters()))
@pytest.mark.parametrize(
    "bad", ["x", object(), {}, 1j], ids=["str", "object", "dict", "complex"]
)
def test_a_number_is_wanted(cls: type, parameter: str, bad: Any) -> None:
    said = rf"{cls.__name__}\(\): argument '{parameter}' must be "
    with pytest.raises(errors.ArgumentTypeError, match=said):
        cls(**(_given(cls) | {parameter: bad}))


def test_settings_of_a_group() -> None:
    group = {"params": [tg.ones(1, requires_grad=True)], "lr": "x"}
    with pytest.raises(TypeError, match=r"SGD\(\): argument 'lr' must be a number"):
        tg.optim.SGD([group])


def test_two_betas() -> None:
    with pytest.raises(TypeError, match=r"'betas' must be two numbers, not tuple"):
        tg.optim.Adam([tg.ones(1, requires_grad=True)], betas=(0.9,))


def test_a_layer_of_the_users_is_left_alone() -> None:
    class Layer(tg.nn.Module):
        def __init__(self, size: int) -> None:
            super().__init__()
            self.size = size

    assert Layer("any").size == "any"  # type: ignore[arg-type]


# -- warnings -------------------------------------------------------------------------


def duplicated() -> None:
    weight = tg.ones(1, requires_grad=True)
    tg.optim.SGD([weight, weight], lr=0.1)


def created_graph() -> None:
    tg.ones(1, requires_grad=True).sum().backward(create_graph=True)


WARNINGS: list[Callable[[], Any]] = [
    lambda: functional.mse_loss(tg.ones(2, 1), tg.ones(2)),
    lambda: functional.l1_loss(tg.ones(2, 1), tg.ones(2)),
    lambda: tg.nn.MSELoss()(tg.ones(2, 1), tg.ones(2)),
    lambda: tg.ones(1).var(),
    lambda: tg.std(tg.ones(1)),
    lambda: tg.ones(3, 3)[[0, slice(None)]],  # type: ignore[index]
    lambda: tg.ones(2)[tg.tensor([1, 0], dtype=tg.uint8)],
    lambda: (tg.ones(1, requires_grad=True) * 2).grad,
    lambda: float(tg.ones(1, requires_grad=True)),
    lambda: functional.softmax(tg.ones(2)),
    lambda: tg.nn.Softmax()(tg.ones(2)),
    lambda: functional.log_softmax(tg.ones(2)),
    lambda: functional.softmin(tg.ones(2)),
    lambda: tg.autograd.gradcheck(
        tg.exp, tg.ones(1, requires_grad=True), raise_exception=False
    ),
    duplicated,
    created_graph,
]


@pytest.mark.parametrize("program", WARNINGS)
def test_a_warning_names_the_users_line(program: Callable[[], Any]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        program()
    first = program.__code__.co_firstlineno
    assert caught
    for warning in caught:
        assert warning.filename == __file__
        assert first <= warning.lineno <= first + 4


def test_warnings_go_through_one_function() -> None:
    package = inspect.getfile(tg).removesuffix("__init__.py")
    found = [
        path
        for path in _python_files(package)
        if "warnings.warn(" in path.read_text(encoding="utf-8")
    ]
    assert [path.name for path in found] == ["location.py"]


def _python_files(folder: str) -> list[Path]:
    return sorted(Path(folder).rglob("*.py"))
