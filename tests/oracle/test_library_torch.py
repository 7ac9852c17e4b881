"""Custom operators as PyTorch's: one program, run under both."""

from typing import Any

import pytest

import tracegrad as tg

torch = pytest.importorskip("torch")
BOTH = (torch, tg)


def cube_of(lib: Any) -> Any:
    def cube(x, by=1.0):  # type: ignore[no-untyped-def]
        return x**3 * by

    cube.__annotations__ = {"x": lib.Tensor, "by": float, "return": lib.Tensor}
    op = lib.library.custom_op("oracle::cube", cube, mutates_args=())
    op.register_fake(lambda x, by=1.0: lib.empty_like(x))

    def keep(ctx: Any, inputs: Any, output: Any) -> None:
        ctx.save_for_backward(inputs[0])
        ctx.by = inputs[1]

    def backward(ctx: Any, ct: Any) -> Any:
        (x,) = ctx.saved_tensors
        return ct * 3 * x * x * ctx.by, None

    op.register_autograd(backward, setup_context=keep)
    return op


def outcomes(lib: Any) -> list[Any]:
    op = cube_of(lib)
    x = lib.tensor([1.0, -2.0], requires_grad=True)
    y = op(x, by=2.0)
    (first,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = lib.autograd.grad(first.sum(), x)
    return [y.tolist(), first.tolist(), second.tolist(), y.requires_grad]


def test_values_and_gradients() -> None:
    assert outcomes(tg) == outcomes(torch)


def writes(lib: Any) -> list[Any]:
    def bump(p, q, by=2):  # type: ignore[no-untyped-def]
        p.add_(1)
        q.add_(by)

    bump.__annotations__ = {"p": lib.Tensor, "q": lib.Tensor, "by": int, "return": None}
    op = lib.library.custom_op("oracle::bump", bump, mutates_args=("p", "q"))
    base = lib.zeros(2, 2)
    before = base._version
    result = op(base[0], base[1], by=3)
    return [base.tolist(), base._version > before, result]


def test_writes_and_versions() -> None:
    assert writes(tg) == writes(torch)


def annotated(lib: Any) -> list[Any]:
    from typing import Sequence  # noqa: PLC0415, UP035

    tensor = lib.Tensor
    return [
        {"x": tensor, "return": tensor},
        {"x": tensor, "n": int, "s": str, "b": bool, "f": float, "return": None},
        {"x": tensor | None, "xs": Sequence[tensor], "return": list[tensor]},
        {"x": tensor, "d": lib.dtype, "n": list[int], "return": tuple[tensor, tensor]},
        {"x": tensor, "n": list[float] | None, "m": int | None, "return": tensor},
    ]


@pytest.mark.parametrize("case", range(5))
def test_schemas(case: int) -> None:
    def schema(lib: Any) -> Any:
        annotations = annotated(lib)[case]
        names = [name for name in annotations if name != "return"]
        namespace: dict[str, Any] = {}
        exec(f"def f({', '.join(names)}): pass", namespace)
        function = namespace["f"]
        function.__annotations__ = annotations
        return lib.library.infer_schema(function, mutates_args=("x",))

    assert schema(tg) == schema(torch)


def errors(lib: Any, case: int) -> Any:
    def alias(x):  # type: ignore[no-untyped-def]
        return x

    alias.__annotations__ = {"x": lib.Tensor, "return": lib.Tensor}
    op = lib.library.custom_op(f"oracle::alias{case}", alias, mutates_args=())
    try:
        if case == 0:
            op(lib.ones(2))
        elif case == 1:
            op2 = lib.library.custom_op(
                "oracle::plain",
                lambda x: x + 1,
                mutates_args=(),
                schema="(Tensor x) -> Tensor",
            )
            op2(lib.ones(2, requires_grad=True)).sum().backward()
        else:
            lib.library.custom_op("oracle::bad", alias, mutates_args=("y",))
    except Exception as error:
        return [k for k in (ValueError, RuntimeError) if isinstance(error, k)]
    return None


@pytest.mark.parametrize("case", range(3))
def test_kinds_of_errors(case: int) -> None:
    assert errors(tg, case) == errors(torch, case)
