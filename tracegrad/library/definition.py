"""Custom operators: what a user's function becomes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, final

from tracegrad.dispatch.bind import bind
from tracegrad.dispatch.entry import INFERENCE
from tracegrad.dispatch.inplace import check_writable, write
from tracegrad.dispatch.operator import OPERATORS, OpDef
from tracegrad.dispatch.state import thread
from tracegrad.dispatch.tensor import Tensor, edge_of, version_of
from tracegrad.errors import (
    ArgumentError,
    ArgumentTypeError,
    DeviceError,
    GradientError,
    InplaceError,
    NotSupportedError,
)
from tracegrad.library import derivatives
from tracegrad.library.calls import Form, all_tensors, canonical, written_tensors
from tracegrad.library.kernels import (
    kernel_device,
    overlap,
    run_fake,
    run_functional,
    run_on_memory,
)
from tracegrad.library.schema import Schema, infer_schema, parse_schema

_NAME = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*", re.ASCII)
_OPERANDS = {
    "Tensor": "Tensor",
    "Tensor?": "Tensor | None",
    "Tensor[]": "Sequence[Tensor]",
}
_KERNEL_LOOKUP = ("tracegrad.library.kernels", "kernel_of")

DeviceTypes = str | Sequence[str] | None


@final
class CustomOpDef:
    """A custom operator; call it as the function it was made of.

    Made by `custom_op`. It runs eagerly, is captured as one node, and works in every
    transform for which its rules are registered.
    """

    # Captures run what is inside as it is: one node stands for it.
    __tracegrad_operator__ = True

    def __init__(
        self, name: str, schema: Schema, function: Callable[..., Any] | None
    ) -> None:
        self.name = name
        self.schema = schema
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        self.vmap: Callable[..., Any] | None = None
        self.fake: Callable[..., Any] | None = None
        self._kernels: dict[str | None, Callable[..., Any]] = {}
        self._disabled: set[str | None] = set()
        self._init_fn = function
        self._signature = schema.signature()
        self.operator = self._operator()
        derivatives.state_rules(self)
        self._function = derivatives.function_for(self)
        self.__doc__ = getattr(function, "__doc__", None)
        self.__name__ = name
        self.__module__ = getattr(function, "__module__", __name__)
        OPERATORS[name] = self.operator
        DEFINITIONS[name] = self

    def _operator(self) -> OpDef:
        """Return the functional operator that graphs hold."""
        parameters = [
            inspect.Parameter(
                argument.name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                annotation=_OPERANDS.get(argument.type, argument.type),
            )
            for argument in self.schema.arguments
        ]

        def described(*args: Any) -> None:
            """Stand for the user's function, whose annotations are the schema."""

        described.__doc__ = getattr(self._init_fn, "__doc__", None)
        described.__module__ = getattr(self._init_fn, "__module__", None) or __name__
        described.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        operator = OpDef(
            described,
            "custom",
            name=self.name,
            abstract=self._abstract,
            kernel=self._kernel,
            method=False,
            public=False,
            may_raise=True,
            external=_KERNEL_LOOKUP,
            several=self.schema.returns != ("Tensor",) or bool(self.schema.written),
            results=len(self.schema.returns),
        )
        operator.call = self
        return operator

    def __repr__(self) -> str:
        return f"<CustomOpDef({self.name})>"

    def __deepcopy__(self, memo: Any) -> CustomOpDef:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return definition_named, (self.name,)

    # -- registering --------

    def register_kernel(
        self, device_types: DeviceTypes, fn: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Register what runs on devices of some types; also a decorator.

        Parameters
        ----------
        device_types : str, sequence of str, or None
            Such as ``"cpu"``; None means all that have no kernel of their own.
        fn : callable, optional
        """
        one = device_types is None or isinstance(device_types, str)
        types = (device_types,) if one else tuple(device_types or ())

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self._kernels.update(dict.fromkeys(types, function))  # type: ignore[arg-type]
            return function

        return register if fn is None else register(fn)

    def register_fake(self, fn: Callable[..., Any], /) -> Callable[..., Any]:
        """Register what gives shape and dtype of the results without data.

        It gets tensors that have no data, and gives such, for instance
        ``torch.empty_like(x)``. Captures and the meta device need it.
        """
        self.fake = fn
        return fn

    def register_autograd(
        self,
        backward: Callable[..., Any],
        /,
        *,
        setup_context: Callable[..., Any] | None = None,
    ) -> None:
        """Register the derivative.

        Parameters
        ----------
        backward : callable
            ``backward(ctx, *grads)`` gives a gradient, or None, for each argument.
        setup_context : callable, optional
            ``setup_context(ctx, inputs, output)`` keeps what backward needs, with
            ``ctx.save_for_backward``; with keyword-only arguments it gets
            ``keyword_only_inputs`` too.

        Raises
        ------
        GradientError
            If the operator writes its arguments.
        """
        if self.schema.written:
            raise GradientError(
                f"{self.name} writes its arguments and can't have a derivative; make "
                "an operator that returns the new values, and give that one"
            )
        self.backward = backward
        self.setup_context = setup_context
        derivatives.state_rules(self)

    def register_vmap(
        self, func: Callable[..., Any] | None = None, /
    ) -> Callable[..., Any]:
        """Register what computes a whole batch; also a decorator.

        ``func(info, in_dims, *args)`` gives ``(results, out_dims)``. Without it
        `vmap` applies the operator to one example after the other.
        """

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.vmap = function
            self._function = derivatives.function_for(self)
            return function

        return register if func is None else register(func)

    @contextmanager
    def set_kernel_enabled(
        self, device_type: str, enabled: bool = True
    ) -> Iterator[None]:
        """Use, or don't use, the kernel of a device type within a block."""
        before = set(self._disabled)
        (self._disabled.discard if enabled else self._disabled.add)(device_type)
        try:
            yield
        finally:
            self._disabled = before

    # -- what the functional operator does --------

    def kernel_for(self, device_type: str) -> Callable[..., Any]:
        """Return the kernel for a device type.

        Raises
        ------
        DeviceError
            If there is none.
        """
        found = self._kernels.get(device_type)
        if device_type in self._disabled:
            found = self._init_fn
        found = found or self._kernels.get(None)
        if found is None:
            known = sorted(str(kind) for kind in self._kernels)
            raise DeviceError(
                f"{self.name} has no kernel for the device {device_type!r}, only for "
                f"{known}; state one with register_kernel"
            )
        return found

    def _values(
        self, operands: Sequence[Any], attributes: dict[str, Any]
    ) -> tuple[Any, ...]:
        """Return the arguments in the schema's order."""
        named = dict(
            zip((p.name for p in self.operator.operands), operands, strict=True)
        )
        named |= attributes
        return tuple(
            tuple(value) if isinstance(value, list) else value
            for value in (named[a.name] for a in self.schema.arguments)
        )

    def operands_of(
        self, values: Sequence[Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return operands and attributes of the functional operator."""
        pairs = list(zip(self.schema.arguments, values, strict=True))
        operands = tuple(value for a, value in pairs if a.is_tensor)
        return operands, {a.name: value for a, value in pairs if not a.is_tensor}

    def _kernel(self, xp: Any, *operands: Any, **attributes: Any) -> Any:
        values = self._values(operands, attributes)
        return run_functional(self.name, self.schema, self.kernel_for, values)

    def _abstract(self, *operands: Any, **attributes: Any) -> Any:
        values = self._values(operands, attributes)
        return run_fake(self.name, self.schema, self.fake, values)

    # -- calling ---------------------------------------------------------------------

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the operator."""
        values = self.arguments(args, kwargs)
        if thread.recorder is not None:
            self._check_recordable()
        if self.schema.written:
            return self._result(self._write(values))
        form, tensors = Form.of(self.schema, values)
        tracked = thread.grad_enabled and any(edge_of(t) is not None for t in tensors)
        if tracked or thread.transforms:
            return self._result(self._function.apply(form, *tensors))
        operands, attributes = self.operands_of(values)
        return self._result(bind(self.operator, operands, attributes))

    def arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the arguments of a call in the schema's order, checked.

        Raises
        ------
        ArgumentTypeError
            If they don't fit the schema.
        """
        try:
            bound = self._signature.bind(*args, **kwargs)
        except TypeError as error:
            raise ArgumentTypeError(f"{self.name}(): {error}") from None
        bound.apply_defaults()
        values = tuple(bound.arguments.values())
        return canonical(self.name, self.schema, values)

    def _check_recordable(self) -> None:
        recorder = thread.recorder
        assert recorder is not None
        if not self.schema.returns and not self.schema.written:
            recorder.fail(f"{self.name} gives nothing and writes nothing: an effect")
        elif self.fake is None and self.schema.returns:
            recorder.fail(f"{self.name} has no fake (register_fake)")

    def _result(self, results: Any) -> Any:
        """Return what the user's function would return."""
        schema = self.schema
        if not schema.returns:
            return None
        if isinstance(results, Tensor):
            return results
        if schema.gives_list:
            return list(results)
        return results[0] if len(schema.returns) == 1 else tuple(results)

    # -- writing ---------------------------------------------------------------------

    def _write(self, values: tuple[Any, ...]) -> Any:
        """Apply an operator that writes arguments."""
        targets = written_tensors(self.schema, values)
        for target in targets:
            check_writable(target, self.name)
        tensors = all_tensors(values)
        tracked = thread.grad_enabled and any(edge_of(t) is not None for t in tensors)
        if tracked or thread.transforms or any(t.is_meta for t in tensors):
            self._refuse_overlap(targets, values)
            return self._write_back(targets, values)
        if thread.recorder is None:
            return self._write_directly(targets, values)
        if not overlap(targets, values):
            return self._write_back(targets, values)
        thread.recorder.fail(f"{self.name} writes memory that another argument shares")
        for target in targets:
            thread.recorder.write(target, target)
        return self._write_directly(targets, values)

    def _refuse_overlap(self, targets: Sequence[Tensor], values: Sequence[Any]) -> None:
        if overlap(targets, values):
            raise InplaceError(
                f"{self.name} writes memory that another argument shares, which is not "
                "possible with gradients or under a transform; pass a clone()"
            )

    def _write_directly(
        self, targets: Sequence[Tensor], values: tuple[Any, ...]
    ) -> Any:
        form, tensors = Form.of(self.schema, values)
        kind = kernel_device(form, [t._array for t in tensors])
        results = run_on_memory(self.name, self.schema, self.kernel_for(kind), values)
        for target in targets:
            version = version_of(target)
            if version is not INFERENCE:
                version[0] += 1
        return results

    def _write_back(self, targets: Sequence[Tensor], values: tuple[Any, ...]) -> Any:
        """Compute the new contents, then write them, seen by tape and recorder."""
        operands, attributes = self.operands_of(values)
        results = bind(self.operator, operands, attributes)
        count = len(results) - len(targets)
        for target, value in zip(targets, results[count:], strict=True):
            write(target, value)
        return results[:count]


DEFINITIONS: dict[str, CustomOpDef] = {}
"""The custom operators by name; a later one of a name replaces the earlier."""


def definition_named(name: str) -> CustomOpDef:
    """Return the custom operator of a name.

    Raises
    ------
    ArgumentError
        If there is none.
    """
    found = DEFINITIONS.get(name)
    if found is None:
        raise ArgumentError(
            f"no custom operator is called {name!r}; import the module that defines "
            f"it first. There are {sorted(DEFINITIONS)}"
        )
    return found


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: DeviceTypes = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make a function an operator that tracegrad does not look into.

    Parameters
    ----------
    name : str
        ``"namespace::name"``.
    fn : callable, optional
        Computes the results, from tensors; it may use NumPy or whatever else. If it
        is not given, `custom_op` is a decorator.
    mutates_args : iterable of str, or ``"unknown"``
        The arguments that it writes; ``"unknown"`` means all tensors.
    device_types : str, sequence of str, or None
        The devices for which `fn` is meant; all if None.
    schema : str, optional
        What it takes and gives; else the annotations of `fn` say it.
    tags : object
        Accepted and not used.

    Returns
    -------
    CustomOpDef, or a decorator that gives one

    Raises
    ------
    ArgumentError
        If the name, the annotations or the schema can't be used.

    Examples
    --------
    >>> import numpy as np
    >>> import tracegrad as tg
    >>> @tg.library.custom_op("example::cube", mutates_args=())
    ... def cube(x: tg.Tensor) -> tg.Tensor:
    ...     return tg.from_numpy(np.power(x.numpy(), 3))
    >>> @cube.register_fake
    ... def _(x):
    ...     return tg.empty_like(x)
    >>> def keep(ctx, inputs, output):
    ...     ctx.save_for_backward(*inputs)
    >>> def backward(ctx, grad):
    ...     (x,) = ctx.saved_tensors
    ...     return grad * 3 * x * x
    >>> cube.register_autograd(backward, setup_context=keep)
    >>> x = tg.tensor([1.0, 2.0], requires_grad=True)
    >>> cube(x).sum().backward()
    >>> x.grad
    tensor([ 3., 12.])
    """
    if _NAME.fullmatch(name) is None:
        raise ArgumentError(
            f"a custom operator is called 'namespace::name', not {name!r}"
        )
    if not isinstance(mutates_args, str):
        mutates_args = tuple(mutates_args)

    def define(function: Callable[..., Any]) -> CustomOpDef:
        text = schema or infer_schema(function, mutates_args=mutates_args)
        parsed = parse_schema(text)
        _check_schema(name, parsed, mutates_args if schema is not None else None)
        made = CustomOpDef(name, parsed, function)
        made.register_kernel(device_types, function)
        return made

    return define if fn is None else define(fn)


def _check_schema(
    name: str, schema: Schema, declared: str | tuple[str, ...] | None
) -> None:
    for argument in schema.arguments:
        if argument.is_tensor and argument.type not in _OPERANDS:
            raise NotSupportedError(
                f"{name}: the argument {argument.name!r} is {argument.type}; tensors "
                f"can be {sorted(_OPERANDS)}"
            )
        if argument.is_tensor and argument.keyword_only:
            raise NotSupportedError(
                f"{name}: the tensor {argument.name!r} must not be keyword-only"
            )
    if any(kind not in ("Tensor", "Tensor[]") for kind in schema.returns) or (
        "Tensor[]" in schema.returns and not schema.gives_list
    ):
        raise NotSupportedError(
            f"{name} gives {list(schema.returns)}; a custom operator gives tensors, "
            "one list of tensors, or nothing"
        )
    written = {argument.name for argument in schema.written}
    if declared is not None and declared != "unknown" and written != set(declared):
        raise ArgumentError(
            f"{name}: mutates_args is {declared}, but the schema {schema.text} says "
            f"that {sorted(written)} are written"
        )
