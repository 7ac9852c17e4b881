"""What an operator is: one definition that every consumer reads."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, final

from tracegrad.dispatch.argument_errors import RAW, given_twice, raise_explained
from tracegrad.dispatch.kernel_pair import KernelPair
from tracegrad.dispatch.parameters import parameter_names, parameters_of
from tracegrad.dispatch.rules import GIVEN_NAMES, Rule
from tracegrad.errors import ArgumentTypeError
from tracegrad.location import is_published, know, publish

# How an annotation of the defining function is read.
_OPERAND_KINDS = {
    "Tensor": "tensor",
    "Tensor | None": "optional",
    "Sequence[Tensor]": "tensors",
    "Generator": "state",
}


@final
@dataclass(frozen=True, slots=True)
class OperandDef:
    """A parameter that is data: a tensor, several tensors, a random state."""

    name: str
    kind: str
    default: Any = inspect.Parameter.empty


@final
@dataclass(frozen=True, slots=True)
class AttributeDef:
    """A parameter that is known when a graph is made: hashable, printed in it."""

    name: str
    annotation: str
    default: Any = inspect.Parameter.empty
    variadic: bool = False


@final
@dataclass(frozen=True, slots=True)
class Plan:
    """What backward needs of one application, for one mask of tracked operands.

    Attributes
    ----------
    steps : tuple of (int, Rule)
        The rules to run, with the index of the operand.
    reads : tuple
        For each step where the arguments of its rule come from: pairs such as
        ``("saved", 0)``, in the order of the rule's parameters.
    pointwise : bool
        Whether the engine brings cotangents to the operands' shapes and dtypes.
    """

    operator: OpDef
    saved_operands: tuple[int, ...]
    saved_results: tuple[int, ...]
    steps: tuple[tuple[int, Rule], ...]
    reads: tuple[tuple[tuple[str, Any], ...], ...]
    pointwise: bool


@final
class OpDef:
    """An operator: its signature, its properties and its rules.

    Attributes
    ----------
    name : str
        The name in graphs and in the registry.
    family : str
        ``pointwise``, ``reduction``, ``view``, ``movement``, ``contraction``,
        ``gather``, ``scan``, ``random``, ``creation``, ``library`` or ``composite``.
    operands, attributes : tuple
        The signature, in order.
    facts : dict
        What the family states for its consumers: expressions, combine rules, …
    abstract : callable
        ``abstract(*operand_specs, **attributes)`` gives the result's spec(s).
    kernel : callable or None
        ``kernel(xp, *arrays, **attributes)`` on any backend.
    body : callable or None
        The composite's definition in terms of other operators.
    pair : KernelPair or None
        NumPy functions that give the value and the gradients in eager mode.
    """

    def __init__(self, function: Callable[..., Any], family: str, **facts: Any) -> None:
        self.name: str = facts.pop("name", function.__name__)
        self.family = family
        self.function = function
        self.module = function.__module__
        self.operands, self.attributes = _parameters(function)
        self.operand_index = {p.name: i for i, p in enumerate(self.operands)}
        self.commutative: bool = facts.pop("commutative", False)
        self.is_view: bool = facts.pop("is_view", False)
        self.is_random: bool = facts.pop("is_random", False)
        self.may_raise: bool = facts.pop("may_raise", False)
        self.may_alias: bool = facts.pop("may_alias", False)
        self.inplace: bool = facts.pop("inplace", False)
        self.method: bool = facts.pop("method", True)
        self.public: bool = facts.pop("public", True)
        self.abstract: Callable[..., Any] = facts.pop("abstract", _no_abstract)
        self.kernel: Callable[..., Any] | None = facts.pop("kernel", None)
        self.body: Callable[..., Any] | None = facts.pop("body", None)
        self.pair: KernelPair | None = None
        self.batch: Callable[..., Any] | None = None
        self.vjp_rules: dict[str, Rule] = {}
        self.jvp_rules: dict[str, Rule] = {}
        self.linear_in: tuple[str, ...] = facts.pop("linear_in", ())
        self.examples: Any = facts.pop("examples", None)
        self.facts: dict[str, Any] = facts
        self._plans: dict[Any, Plan] = {}
        # Filled by the dispatcher: the Python function that users call.
        self.call: Callable[..., Any] = function

    @functools.cached_property
    def doc(self) -> str:
        """The defining function's documentation, without its indentation."""
        return inspect.getdoc(self.function) or ""

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The signature of the defining function."""
        return inspect.signature(self.function)

    # Set by the dispatcher: apply(operator, operands, attributes), and the decorator
    # of functions whose calls are planned.
    apply: Callable[..., Any]
    planned: Callable[[Callable[..., Any]], Callable[..., Any]]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Apply the operator through the dispatcher."""
        return self.call(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<operator {self.name}>"

    def __reduce__(self) -> str | tuple[Any, ...]:
        return (_operator_named, (self.name,))

    # -- stating rules ----------------------------------------------------------

    def derivative(self, **rules: Rule) -> OpDef:
        """State one derivative per operand; VJP and JVP both follow."""
        for name, rule in rules.items():
            self._check_operand(name)
            self.vjp_rules[name] = rule
            self.jvp_rules[name] = rule
        return self

    def vjp(self, **rules: Callable[..., Any]) -> OpDef:
        """State the VJP of operands: functions of ``ct`` and of what they need.

        A parameter's name says what it is: an operand, ``out`` (the result), an
        operand's name with ``_spec`` (shape and dtype only), or an attribute.
        Exactly the operands and results that are named are saved for backward.
        """
        for name, function in rules.items():
            self._check_operand(name)
            self.vjp_rules[name] = Rule("vjp", function, parameter_names(function))
        return self

    def jvp(self, **rules: Callable[..., Any]) -> OpDef:
        """State the JVP of operands: functions of ``t`` and of what they need."""
        for name, function in rules.items():
            self._check_operand(name)
            self.jvp_rules[name] = Rule("jvp", function, parameter_names(function))
        return self

    def kernels(self, **stated: Any) -> OpDef:
        """State an eager kernel pair: the fields of `KernelPair`."""
        self.pair = KernelPair(**stated)
        for name in self.pair.reads:
            if name != "out":
                self._check_operand(name)
        return self

    def batching(self, rule: Callable[..., Any]) -> Callable[..., Any]:
        """State the batching rule (decorator)."""
        self.batch = rule
        return rule

    def _check_operand(self, name: str) -> None:
        if name not in self.operand_index:
            raise ArgumentTypeError(
                f"{self.name} has no operand {name!r}; "
                f"it has {list(self.operand_index)}"
            )

    # -- what the tape asks -----------------------------------------------------

    def plan(self, mask: tuple[bool, ...], is_tensor: tuple[bool, ...]) -> Plan:
        """Return what to save and which rules to run for the tracked operands."""
        key = (mask, is_tensor)
        found = self._plans.get(key)
        if found is None:
            found = self._plans[key] = self._make_plan(mask, is_tensor)
        return found

    def _make_plan(self, mask: tuple[bool, ...], is_tensor: tuple[bool, ...]) -> Plan:
        steps = []
        named: set[str] = set()
        for index, operand in enumerate(self.operands):
            rule = self.vjp_rules.get(operand.name)
            if mask[index] and rule is not None:
                steps.append((index, rule))
                named.update(rule.names)
        saved = tuple(
            i
            for i, operand in enumerate(self.operands)
            if operand.name in named and is_tensor[i]
        )
        results: tuple[int, ...] = (0,) if "out" in named else ()
        if "outs" in named:
            results = tuple(range(self.facts["results"]))
        reads = tuple(
            tuple(self._read(name, saved) for name in rule.names) for _, rule in steps
        )
        pointwise = self.family == "pointwise"
        return Plan(self, saved, results, tuple(steps), reads, pointwise)

    def _read(self, name: str, saved: tuple[int, ...]) -> tuple[str, Any]:
        """Return where backward finds what a rule calls `name`."""
        if name in GIVEN_NAMES:
            return "given", name
        if name == "out":
            return "saved", len(saved)
        if name == "outs":
            return "results", len(saved)
        index = self.operand_index.get(name)
        if index is not None:
            return (
                ("saved", saved.index(index)) if index in saved else ("literal", index)
            )
        operand = self.operand_index.get(name.removesuffix("_spec"))
        return ("attribute", name) if operand is None else ("spec", operand)

    @property
    def states_abstract(self) -> bool:
        """Whether there is an abstract eval besides the body."""
        return self.abstract is not _no_abstract

    @property
    def differentiable(self) -> bool:
        """Whether any operand has a derivative."""
        return bool(self.vjp_rules) or self.body is not None


def _parameters(
    function: Callable[..., Any],
) -> tuple[tuple[OperandDef, ...], tuple[AttributeDef, ...]]:
    operands: list[OperandDef] = []
    attributes: list[AttributeDef] = []
    for parameter in parameters_of(function):
        annotation = str(parameter.annotation)
        kind = _OPERAND_KINDS.get(annotation)
        if kind is not None:
            operands.append(OperandDef(parameter.name, kind, parameter.default))
            continue
        attributes.append(
            AttributeDef(
                parameter.name, annotation, parameter.default, parameter.variadic
            )
        )
    return tuple(operands), tuple(attributes)


def _no_abstract(*_: Any, **__: Any) -> Any:
    raise NotImplementedError("the operator states no abstract eval")


OPERATORS: dict[str, OpDef] = {}
"""Every operator by name: the program's table of contents."""


def register(operator: OpDef) -> OpDef:
    """Enter `operator` in the registry."""
    if operator.name in OPERATORS:
        raise ArgumentTypeError(f"an operator named {operator.name!r} is already there")
    OPERATORS[operator.name] = operator
    know(operator.name)
    return operator


def _operator_named(name: str) -> OpDef:
    return OPERATORS[name]


@final
@dataclass(frozen=True, slots=True)
class FunctionDef:
    """A public function that only chooses among operators (``max``, ``where``)."""

    name: str
    function: Callable[..., Any]
    method: bool


FUNCTIONS: dict[str, FunctionDef] = {}

# What NumPy calls some parameters, and PyTorch takes too.
_NUMPY_NAMES = {"axis": "dim", "keepdims": "keepdim"}


def own_name(written: str, parameters: Collection[str]) -> str:
    """Return the parameter that is meant by a name, which may be NumPy's."""
    if written in parameters:
        return written
    found = _NUMPY_NAMES.get(written, written)
    return found if found in parameters else written


def public_form(
    function: Callable[..., Any],
    name: str,
    signature: inspect.Signature | None = None,
) -> Callable[..., Any]:
    """Return `function` as users call it, under a name.

    It takes ``axis=`` where it has a parameter ``dim``, and what Python raises in it
    for an argument of a wrong type says which argument that is.
    """

    @functools.cache
    def own() -> inspect.Signature:
        # When it is first asked for: most never are, and import would wait for all.
        return inspect.signature(function) if signature is None else signature

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if kwargs and not _NUMPY_NAMES.keys().isdisjoint(kwargs):
                kwargs = _own_names(kwargs, name, own())
            return function(*args, **kwargs)
        except RAW as error:
            raise_explained(name, own(), args, kwargs, error)

    publish(call, name)
    return call


def _own_names(
    given: dict[str, Any], function: str, signature: inspect.Signature
) -> dict[str, Any]:
    """Return arguments by PyTorch's names where NumPy's were given.

    That is for functions with a parameter ``dim`` and none of NumPy's names.
    """
    parameters = signature.parameters
    if not _NUMPY_NAMES.keys().isdisjoint(parameters) or "dim" not in parameters:
        return given
    found: dict[str, Any] = {}
    for written, value in given.items():
        name = own_name(written, signature.parameters)
        if name in found or (name != written and name in given):
            raise given_twice(function, signature, name)
        found[name] = value
    return found


def public_function(
    method: bool = True, name: str = "", *, by_data: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Enter a function in the public surface (decorator).

    Parameters
    ----------
    method : bool
        Whether it is a method of Tensor too.
    name : str
        What it is called, if not as the function.
    by_data : bool
        Whether what it applies depends on data that it reads itself, or on the state
        of a generator: then calls are never planned (`tracegrad.dispatch.plans`).
    """

    def enter(function: Callable[..., Any]) -> Callable[..., Any]:
        called = name or function.__name__
        publish(function, called)
        form = public_form(function, called)
        if not by_data:
            form = OpDef.planned(form)
        FUNCTIONS[called] = FunctionDef(called, form, method)
        return function

    return enter


def public_forms(
    namespace: Mapping[str, Any], names: Iterable[str]
) -> dict[str, Callable[..., Any]]:
    """Return functions of a module as users call them, by name."""
    return {name: _form_of(namespace[name], name) for name in names}


def publish_module(namespace: dict[str, Any]) -> None:
    """Replace the public functions that a module defines by their public forms."""
    names = [
        name
        for name, value in namespace.items()
        if inspect.isfunction(value)
        and value.__module__ == namespace["__name__"]
        and not name.startswith("_")
    ]
    namespace.update(public_forms(namespace, names))


def _form_of(function: Any, name: str) -> Any:
    if isinstance(function, OpDef):
        same = function.name == name
        return function if same else public_form(function.call, name)
    known = FUNCTIONS.get(name)
    if known is not None and inspect.unwrap(known.function) is function:
        return known.function
    return function if is_published(function) else public_form(function, name)
