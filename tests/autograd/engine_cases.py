"""Lines 59 to 77 of `semantics.md`: the autograd engine."""

import copy
from typing import Any

from tests.support.cases import Cases, Raises

case = Cases()


def leaf(lib: Any, *values: float) -> Any:
    return lib.tensor(list(values), requires_grad=True)


def grad(lib: Any, *args: Any, **kwargs: Any) -> Any:
    return lib.autograd.grad(*args, **kwargs)


# -- 59, 60: backward -----------------------------------------------------------------


@case(59, Raises(RuntimeError))
def second_backward_after_saving(lib: Any) -> Any:
    y = leaf(lib, 2.0).pow(2).sum()
    y.backward()
    y.backward()


@case(59, [8.0])
def second_backward_with_retain_graph(lib: Any) -> Any:
    x = leaf(lib, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad


@case(59, [2.0, 2.0])
def second_backward_of_sums(lib: Any) -> Any:
    x = leaf(lib, 1.0, 2.0)
    y = (x + x.detach()).sum()
    y.backward()
    y.backward()
    return x.grad


@case(60, Raises(RuntimeError))
def backward_of_several_elements(lib: Any) -> Any:
    (leaf(lib, 1.0, 2.0) * 2).backward()


@case(60, Raises(RuntimeError))
def backward_with_another_shape(lib: Any) -> Any:
    (leaf(lib, 1.0, 2.0) * 2).backward(lib.ones(3))


@case(60, Raises(RuntimeError))
def backward_without_a_graph(lib: Any) -> Any:
    lib.ones(1).backward()


@case(60, [3.0, 4.0])
def backward_with_a_gradient(lib: Any) -> Any:
    x = leaf(lib, 1.0, 2.0)
    (x * 1).backward(lib.tensor([3.0, 4.0]))
    return x.grad


@case(60, Raises(RuntimeError))
def backward_of_a_complex_scalar(lib: Any) -> Any:
    x = lib.ones(1, dtype=lib.complex64, requires_grad=True)
    (x * 2).sum().backward()


@case(60, Raises(TypeError))
def backward_with_a_number(lib: Any) -> Any:
    (leaf(lib, 1.0) * 2).sum().backward(1.0)


# -- 61: requires_grad -----------------------------------------------------------------


@case(61, Raises(RuntimeError))
def integers_require_no_gradient(lib: Any) -> Any:
    lib.tensor([1]).requires_grad_()


@case(61, Raises(RuntimeError))
def a_non_leaf_keeps_requires_grad(lib: Any) -> Any:
    (leaf(lib, 1.0) * 2).requires_grad = False


@case(61, [True, False])
def setting_it_on_a_non_leaf_does_nothing(lib: Any) -> Any:
    y = leaf(lib, 1.0) * 2
    y.requires_grad_()
    return y.requires_grad, y.is_leaf


@case(61, [False, False, False, False])
def what_requires_no_gradient(lib: Any) -> Any:
    x = leaf(lib, 1.5, 2.5)
    results = (x.detach(), x > 2, x.argmax(), x.to(lib.int64))
    return [t.requires_grad for t in results]


@case(61, [True, [0.0, 0.0], True, [0.0, 0.0], True, [0.0, 0.0]])
def rounding_has_gradient_zero(lib: Any) -> Any:
    found = []
    for name in ("round", "floor", "sign"):
        x = leaf(lib, 1.5, 2.5)
        y = getattr(x, name)()
        y.sum().backward()
        found += [y.requires_grad, x.grad]
    return found


@case(61, [[2.0], True, True])
def toggling_a_leaf(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    y = x * 2
    x.requires_grad_(False)
    off = (x * 2).requires_grad is False
    x.requires_grad_()
    return grad(lib, y.sum(), x)[0], off, x.is_leaf


# -- 62: accumulation ------------------------------------------------------------------


@case(62, [True, [4.0], 1])
def accumulation_keeps_the_object(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 2).sum().backward()
    return x.grad is first, x.grad, first._version


@case(62, [False, [2.0], [4.0]])
def accumulation_with_create_graph(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    (x * 2).sum().backward()
    first = x.grad
    (x * 2).sum().backward(create_graph=True)
    second, x.grad = x.grad, None
    return second is first, first, second


# -- 63: grad --------------------------------------------------------------------------


@case(63, Raises(RuntimeError))
def an_unused_input(lib: Any) -> Any:
    grad(lib, leaf(lib, 1.0).sum(), leaf(lib, 2.0))


@case(63, [None])
def an_unused_input_that_is_allowed(lib: Any) -> Any:
    return grad(lib, leaf(lib, 1.0).sum(), leaf(lib, 2.0), allow_unused=True)


@case(63, [[0.0, 0.0]])
def an_unused_input_materialized(lib: Any) -> Any:
    unused = leaf(lib, 2.0, 2.0)
    return grad(lib, leaf(lib, 1.0).sum(), unused, materialize_grads=True)


@case(63, Raises(RuntimeError))
def an_input_without_gradient(lib: Any) -> Any:
    grad(lib, leaf(lib, 1.0).sum(), lib.ones(1))


@case(63, [[2.0], [2.0]])
def the_same_input_twice(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    return grad(lib, (2 * x).sum(), [x, x])


@case(63, [1.0, None])
def the_output_as_input(lib: Any) -> Any:
    x = lib.tensor(2.0, requires_grad=True)
    return grad(lib, x, x)[0], x.grad


@case(63, [[6.0], [2.0], None])
def a_non_leaf_as_input(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    y = 3 * x
    return *grad(lib, (2 * y).sum(), [x, y]), x.grad


@case(63, [[2.0], None])
def backward_for_chosen_inputs(lib: Any) -> Any:
    x, z = leaf(lib, 1.0), leaf(lib, 2.0)
    (x * z).sum().backward(inputs=[x])
    return x.grad, z.grad


@case(63, [[1.0, 1.0], None])
def backward_for_a_non_leaf(lib: Any) -> Any:
    x = leaf(lib, 1.0, 1.0)
    y = x * 2
    y.sum().backward(inputs=[y])
    return y.grad, x.grad


@case(63, Raises(RuntimeError))
def backward_for_no_inputs(lib: Any) -> Any:
    leaf(lib, 1.0).sum().backward(inputs=[])


@case(63, [[7.0]])
def several_outputs(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    outputs = [x.sum(), (2 * x).sum()]
    return grad(lib, outputs, x, grad_outputs=[None, lib.tensor(3.0)])


# -- 64, 65: higher derivatives --------------------------------------------------------


@case(64, [False, True])
def the_gradient_of_a_linear_function_is_a_constant(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    (linear,) = grad(lib, (2 * x).sum(), x, create_graph=True)
    (square,) = grad(lib, (x * x).sum(), x, create_graph=True)
    return linear.requires_grad, square.requires_grad


@case(65, [12.0, 12.0, 6.0])
def three_derivatives_of_a_cube(lib: Any) -> Any:
    x = lib.tensor(2.0, requires_grad=True)
    y, found = x * x * x, []
    for _ in range(3):
        (y,) = grad(lib, y, x, create_graph=True)
        found.append(y)
    return found


@case(65, [8.0])
def double_backward_through_grad(lib: Any) -> Any:
    x = leaf(lib, 2.0)
    (first,) = grad(lib, (x * x).sum(), x, create_graph=True)
    (first * first).sum().backward(inputs=[x])
    return x.grad / 2


# -- 66, 67: saved tensors -------------------------------------------------------------


def _written_after(lib: Any, operation: Any, write_input: bool) -> Any:
    x = leaf(lib, 0.5, 1.5)
    source = x * 1
    result = operation(source)
    (source if write_input else result).add_(1)
    result.sum().backward()
    return x.grad


for _name in ("exp", "sqrt", "tanh", "sigmoid", "relu"):

    def _refuses(lib: Any, name: str = _name) -> Any:
        return _written_after(lib, lambda t: getattr(t, name)(), write_input=False)

    _refuses.__name__ = f"{_name}_saves_its_result"
    case(66, Raises(RuntimeError))(_refuses)


@case(66, Raises(RuntimeError))
def softmax_saves_its_result(lib: Any) -> Any:
    return _written_after(lib, lambda t: t.softmax(0), write_input=False)


@case(66, Raises(RuntimeError))
def mul_saves_its_operand(lib: Any) -> Any:
    w = lib.ones(2, requires_grad=True)
    return _written_after(lib, lambda t: t * w, write_input=True)


@case(66, Raises(RuntimeError))
def pow_saves_its_operand(lib: Any) -> Any:
    return _written_after(lib, lambda t: t.pow(2), write_input=True)


@case(66, [[1.0, 1.0], [1.0, 1.0], [3.0, 3.0]])
def what_saves_nothing(lib: Any) -> Any:
    return (
        _written_after(lib, lambda t: t.sum().reshape(1), write_input=True),
        _written_after(lib, lambda t: t + 1, write_input=True),
        _written_after(lib, lambda t: t * 3, write_input=True),
    )


@case(66, [[0.0, 1.0], [0.25]])
def in_place_forms_are_fine(lib: Any) -> Any:
    x, z = leaf(lib, -1.0, 1.0), leaf(lib, 0.0)
    (x * 1).relu_().sum().backward()
    (z * 1).sigmoid_().sum().backward()
    return x.grad, z.grad


@case(66, Raises(RuntimeError))
def an_in_place_result_is_saved_too(lib: Any) -> Any:
    y = leaf(lib, 1.0) * 1
    y.exp_()
    y.add_(1)
    y.sum().backward()


@case(66, Raises(RuntimeError))
def an_in_place_result_of_a_view_is_saved_too(lib: Any) -> Any:
    y = leaf(lib, 1.0, 2.0) * 1
    y[1:].exp_()
    y.add_(1)
    y.sum().backward()


@case(66, [[2.0, 2.0], [0.5, 1.5]])
def in_place_forms_keep_what_they_overwrite(lib: Any) -> Any:
    x, w = leaf(lib, 0.5, 1.5), lib.full((2,), 2.0, requires_grad=True)
    y = x * 1
    y.mul_(w)
    y.sum().backward()
    return x.grad, w.grad


@case(66, [[3.0, 12.0]])
def in_place_powers(lib: Any) -> Any:
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    y.pow_(3)
    y.sum().backward()
    return [x.grad]


@case(66, Raises(RuntimeError))
def an_in_place_product_with_itself(lib: Any) -> Any:
    y = leaf(lib, 1.0, 2.0) * 1
    y.mul_(y)
    y.sum().backward()


@case(67, [[1.0, 1.0], [1.0, 1.0]])
def the_left_operand_of_a_product(lib: Any) -> Any:
    x = lib.ones(2, 2, requires_grad=True)
    left = x * 1
    y = left @ lib.eye(2)
    left.add_(1)
    y.sum().backward()
    return x.grad


@case(67, Raises(RuntimeError))
def the_left_operand_if_the_right_needs_it(lib: Any) -> Any:
    w = lib.ones(2, 2, requires_grad=True)
    left = lib.ones(2, 2)
    y = left @ w
    left.add_(1)
    y.sum().backward()


# -- 68, 69: hooks ---------------------------------------------------------------------


@case(68, [["first 1.0", "second 2.0"], [6.0]])
def hooks_run_in_order(lib: Any) -> Any:
    x, seen = leaf(lib, 1.0), []

    def first(g: Any) -> Any:
        seen.append(f"first {g.item()}")
        return g * 2

    def second(g: Any) -> Any:
        seen.append(f"second {g.item()}")
        return g * 3

    y = x * 1
    y.register_hook(first)
    y.register_hook(second)
    y.sum().backward()
    return seen, x.grad


@case(68, [[10.0], [10.0], True])
def retain_grad_sees_the_final_value(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    y = x * 1
    y.retain_grad()
    y.register_hook(lambda g: g * 10)
    y.sum().backward()
    return y.grad, x.grad, y.retains_grad


@case(68, [["new", "old"], [2.0]])
def a_hook_stays_with_the_old_value(lib: Any) -> Any:
    x, seen = leaf(lib, 1.0), []
    y = x * 1
    y.register_hook(lambda g: seen.append("old"))
    y.mul_(2)
    y.register_hook(lambda g: seen.append("new"))
    y.sum().backward()
    return seen, x.grad


@case(68, [[2.0], [1.0]])
def old_and_new_hooks_see_their_own_gradients(lib: Any) -> Any:
    seen: list[Any] = []
    y = leaf(lib, 1.0) * 1
    y.register_hook(seen.append)
    y.mul_(2)
    y.register_hook(seen.append)
    y.sum().backward()
    new, old = seen
    return old, new


@case(68, [[12.0, 12.0], True, [72.0, 72.0]])
def retain_grad_follows_a_write(lib: Any) -> Any:
    x = leaf(lib, 1.0, 1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(3)
    (y * y).sum().backward()
    return y.grad, y.retains_grad, x.grad


@case(68, [[12.0], True, [0.0, 72.0]])
def retain_grad_of_a_view_follows_a_write(lib: Any) -> Any:
    x = leaf(lib, 1.0, 1.0)
    y = x * 2
    v = y[1:]
    v.retain_grad()
    v.mul_(3)
    (v * v).sum().backward()
    return v.grad, v.retains_grad, x.grad


@case(68, [[4.0, 12.0], [8.0, 72.0]])
def retain_grad_of_a_base_follows_a_write_to_a_view(lib: Any) -> Any:
    x = leaf(lib, 1.0, 1.0)
    y = x * 2
    y.retain_grad()
    y[1:].mul_(3)
    (y * y).sum().backward()
    return y.grad, x.grad


@case(68, [[12.0], True])
def retain_grad_of_a_view_follows_a_write_to_its_base(lib: Any) -> Any:
    x = leaf(lib, 1.0, 1.0)
    y = x * 2
    v = y[1:]
    v.retain_grad()
    y.mul_(3)
    (v * v).sum().backward()
    return v.grad, v.retains_grad


@case(68, [[1.0], []])
def a_hook_is_removed(lib: Any) -> Any:
    x, seen = leaf(lib, 1.0), []
    handle = x.register_hook(lambda g: seen.append("called"))
    handle.remove()
    handle.remove()
    x.sum().backward()
    return x.grad, seen


@case(68, Raises(RuntimeError))
def a_hook_that_changes_the_shape(lib: Any) -> Any:
    y = leaf(lib, 1.0, 2.0) * 1
    y.register_hook(lambda g: g[:1])
    y.sum().backward()


@case(68, Raises(RuntimeError))
def a_hook_that_changes_the_dtype(lib: Any) -> Any:
    y = leaf(lib, 1.0, 2.0) * 1
    y.register_hook(lambda g: g.to(lib.float64))
    y.sum().backward()


@case(68, Raises(TypeError))
def a_hook_that_returns_a_number(lib: Any) -> Any:
    y = leaf(lib, 1.0, 2.0) * 1
    y.register_hook(lambda g: 3)
    y.sum().backward()


@case(68, Raises(RuntimeError))
def a_hook_on_a_plain_tensor(lib: Any) -> Any:
    lib.ones(1).register_hook(lambda g: g)


@case(68, Raises(RuntimeError))
def retain_grad_on_a_plain_tensor(lib: Any) -> Any:
    lib.ones(1).retain_grad()


@case(68, [False, None])
def retain_grad_on_a_leaf(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    x.retain_grad()
    return x.retains_grad, x.grad


@case(68, [[2.0, 2.0, 4.0], [3.0, 3.0, 6.0]])
def retain_grad_accumulates(lib: Any) -> Any:
    x = leaf(lib, 1.0, 1.0, 2.0)
    y = x * 3
    y.retain_grad()
    z = (y * y).sum() / 3
    z.backward()
    return y.grad, x.grad / 2


@case(69, [["hook 5.0"], [10.0]])
def a_leaf_hook_sees_the_total(lib: Any) -> Any:
    x, seen = leaf(lib, 1.0), []

    def hook(g: Any) -> Any:
        seen.append(f"hook {g.item()}")
        return g * 2

    x.register_hook(hook)
    (2 * x + 3 * x).sum().backward()
    return seen, x.grad


@case(69, [True, [2.0], None])
def a_post_accumulate_hook_sees_the_leaf(lib: Any) -> Any:
    x, seen = leaf(lib, 1.0), []

    def hook(tensor: Any) -> None:
        seen.append(tensor is x)
        seen.append(tensor.grad)
        tensor.grad = None

    x.register_post_accumulate_grad_hook(hook)
    (2 * x).sum().backward()
    return *seen, x.grad


@case(69, Raises(RuntimeError))
def a_post_accumulate_hook_on_a_non_leaf(lib: Any) -> Any:
    (leaf(lib, 1.0) * 1).register_post_accumulate_grad_hook(lambda t: None)


@case(69, [["seen", "seen"], [1.0]])
def grad_runs_hooks_of_its_inputs(lib: Any) -> Any:
    x, seen = leaf(lib, 1.0), []
    y = x * 1
    y.register_hook(lambda g: seen.append("seen"))
    x.register_hook(lambda g: seen.append("seen"))
    return seen, grad(lib, y.sum(), x)[0]


# -- 70: entries -----------------------------------------------------------------------


@case(70, ["c", "b", "a"])
def later_entries_run_first(lib: Any) -> Any:
    order: list[str] = []
    a = leaf(lib, 1.0) * 1
    b, c = a * 2, a * 3
    for name, tensor in (("a", a), ("b", b), ("c", c)):
        tensor.register_hook(lambda g, name=name: order.append(name))
    (b + c).sum().backward()
    return order


@case(70, ["MulBackward0", "AccumulateGrad", 0, None, 0, {}])
def what_an_entry_says(lib: Any) -> Any:
    fn = (leaf(lib, 1.0) * 2).grad_fn
    (first, index), (second, other) = fn.next_functions
    return fn.name(), first.name()[-14:], index, second, other, fn.metadata


@case(70, ["CopySlices", "AddBackward0", "SumBackward0", "LogSoftmaxBackward0"])
def names_of_entries(lib: Any) -> Any:
    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    y[1:].mul_(2)
    made = (y, x + 1, x.sum(), x.log_softmax(0))
    return [t.grad_fn.name().rsplit("::")[-1] for t in made]


@case(70, [True, True])
def the_leaf_of_an_entry(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    fn = (x * 2).grad_fn
    entry = fn.next_functions[0][0]
    return entry.variable is x, (x + 1).grad_fn.next_functions[0][0] is entry


@case(70, [["tensor 1.0", "before 1.0", "after 4.0 None 2.0"], [12.0]])
def hooks_of_an_entry(lib: Any) -> Any:
    x, seen = leaf(lib, 1.0), []
    y = x * 2

    def before(cts: Any) -> Any:
        seen.append(f"before {cts[0].item()}")
        return (cts[0] * 2,)

    def after(given: Any, cts: Any) -> Any:
        seen.append(f"after {given[0].item()} {given[1]} {cts[0].item()}")
        return given[0] * 3, None

    y.grad_fn.register_prehook(before)
    y.grad_fn.register_hook(after)
    y.register_hook(lambda g: seen.append(f"tensor {g.item()}"))
    y.sum().backward()
    return seen, x.grad


@case(70, [True, 0, 1, [1.0, 1.0]])
def several_results_have_one_entry(lib: Any) -> Any:
    x = leaf(lib, 1.0, 2.0)
    a, b = x.unbind()
    (a + b).backward()
    return a.grad_fn is b.grad_fn, a.output_nr, b.output_nr, x.grad


@case(70, [True, None, True, False, True])
def leaves(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    y = x * 1
    return x.is_leaf, x.grad_fn, lib.ones(1).is_leaf, y.is_leaf, y.detach().is_leaf


# -- 72: Function ----------------------------------------------------------------------


def _scaling(lib: Any, gradients: Any) -> Any:
    class Scaling(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any, factor: float) -> Any:
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return gradients(ctx, ct)

    return Scaling


@case(72, [[3.0, 6.0], [3.0, 3.0], "ScalingBackward"])
def a_function(lib: Any) -> Any:
    x = leaf(lib, 1.0, 2.0)
    y = _scaling(lib, lambda ctx, ct: (ct * ctx.factor, None)).apply(x, 3.0)
    y.sum().backward()
    return y, x.grad, y.grad_fn.name()


@case(72, Raises(RuntimeError))
def too_few_gradients(lib: Any) -> Any:
    _scaling(lib, lambda ctx, ct: ct).apply(leaf(lib, 1.0), 3.0).sum().backward()


@case(72, [2.0])
def extra_gradients_of_none(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    function = _scaling(lib, lambda ctx, ct: (ct * 2, None, None, None))
    function.apply(x, 3.0).sum().backward()
    return x.grad


@case(72, Raises(RuntimeError))
def extra_gradients(lib: Any) -> Any:
    function = _scaling(lib, lambda ctx, ct: (ct * 2, None, ct))
    function.apply(leaf(lib, 1.0), 3.0).sum().backward()


@case(72, Raises(RuntimeError))
def a_gradient_for_a_number(lib: Any) -> Any:
    function = _scaling(lib, lambda ctx, ct: (ct, ct))
    function.apply(leaf(lib, 1.0), 3.0).sum().backward()


@case(72, [4.0])
def a_gradient_of_an_expandable_shape(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    function = _scaling(lib, lambda ctx, ct: (lib.ones(4, 1), None))
    function.apply(x, 3.0).sum().backward()
    return x.grad


@case(72, Raises(RuntimeError))
def a_gradient_of_another_shape(lib: Any) -> Any:
    function = _scaling(lib, lambda ctx, ct: (lib.ones(3), None))
    function.apply(leaf(lib, 1.0, 1.0), 3.0).sum().backward()


@case(72, None)
def a_gradient_of_none(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    _scaling(lib, lambda ctx, ct: (None, None)).apply(x, 3.0).sum().backward()
    return x.grad


@case(72, [False, True, [1.0]])
def a_returned_input(lib: Any) -> Any:
    class Same(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return ct

    x = leaf(lib, 1.0)
    y = Same.apply(x)
    y.sum().backward()
    return y is x, y.data_ptr() == x.data_ptr(), x.grad


@case(72, [[2.0, 4.0], [[6.0, 6.0], [7.0, 7.0], [2.0, 2.0]], True])
def a_dirty_input(lib: Any) -> Any:
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return ct * 2

    x = leaf(lib, 1.0, 2.0)
    y = x * 1
    z = Double.apply(y)
    (y * 3).sum().backward()
    first = x.grad
    w = leaf(lib, 1.0, 1.0)
    base = w * 1
    Double.apply(base[1:])
    base.sum().backward()
    return z, [first, first + 1, w.grad + lib.tensor([1.0, 0.0])], z is y


@case(72, Raises(RuntimeError))
def a_dirty_leaf(lib: Any) -> Any:
    class Double(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x.mul_(2)

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return ct * 2

    Double.apply(leaf(lib, 1.0))


@case(72, [False, False, True, [[1.0, 1.0], [0.0, 0.0], None], [1.0, 1.0]])
def results_without_gradients(lib: Any) -> Any:
    seen: list[Any] = []

    class Several(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            marked = x * 3
            ctx.mark_non_differentiable(marked)
            return x * 1, x.argmax(), marked, x * 2

        @staticmethod
        def backward(ctx: Any, *cts: Any) -> Any:
            seen.extend([cts[0], cts[3], None])
            return cts[0]

    x = leaf(lib, 1.0, 2.0)
    a, index, marked, b = Several.apply(x)
    a.sum().backward()
    return index.requires_grad, marked.requires_grad, b.requires_grad, seen, x.grad


@case(72, [[None], [1.0]])
def unused_results_not_materialized(lib: Any) -> Any:
    seen: list[Any] = []

    class Two(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.set_materialize_grads(False)
            return x * 1, x * 2

        @staticmethod
        def backward(ctx: Any, a: Any, b: Any) -> Any:
            seen.append(b)
            return a

    x = leaf(lib, 1.0)
    Two.apply(x)[0].sum().backward()
    return seen, x.grad


@case(72, [[12.0], [12.0], [True, False]])
def a_function_saves_and_differentiates_twice(lib: Any) -> Any:
    class Cube(lib.autograd.Function):
        @staticmethod
        def forward(x: Any, other: Any) -> Any:
            return x * x * x

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(inputs[0])
            ctx.needs = ctx.needs_input_grad

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            (x,) = ctx.saved_tensors
            return ct * 3 * x * x, None

    x = leaf(lib, 2.0)
    y = Cube.apply(x, lib.ones(1))
    (first,) = grad(lib, y.sum(), x, create_graph=True)
    (second,) = grad(lib, first.sum(), x)
    return first, second, list(y.grad_fn.needs)


@case(72, [[7.3890561], [7.3890561]])
def a_function_saves_its_result(lib: Any) -> Any:
    class Exp(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            out = x.exp()
            ctx.save_for_backward(out)
            return out

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return ct * ctx.saved_tensors[0]

    x = lib.tensor([2.0], dtype=lib.float64, requires_grad=True)
    (first,) = grad(lib, Exp.apply(x).sum(), x, create_graph=True)
    (second,) = grad(lib, first.sum(), x)
    return [[round(v, 7) for v in t.tolist()] for t in (first.detach(), second)]


def _saving(lib: Any) -> Any:
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x, None)
            return x * x

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            x, nothing = ctx.saved_tensors
            assert nothing is None
            return 2 * x * ct

    return Square


@case(72, Raises(RuntimeError))
def a_saved_tensor_is_written(lib: Any) -> Any:
    y = leaf(lib, 1.0) * 1
    z = _saving(lib).apply(y)
    y.add_(1)
    z.sum().backward()


@case(72, Raises(RuntimeError))
def a_function_is_freed_after_backward(lib: Any) -> Any:
    z = _saving(lib).apply(leaf(lib, 1.0)).sum()
    z.backward()
    z.backward()


@case(72, Raises(RuntimeError))
def once_differentiable(lib: Any) -> Any:
    class Square(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @lib.autograd.function.once_differentiable
        def backward(ctx: Any, ct: Any) -> Any:
            return 2 * ctx.saved_tensors[0] * ct

    x = leaf(lib, 3.0)
    scale = lib.ones(1, requires_grad=True)
    (first,) = grad(lib, Square.apply(x * scale).sum() * scale, x, create_graph=True)
    first.sum().backward()


@case(72, Raises(RuntimeError))
def a_dirty_input_that_is_not_returned(lib: Any) -> Any:
    class Wrong(lib.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            ctx.mark_dirty(x)
            return x * 2

        @staticmethod
        def backward(ctx: Any, ct: Any) -> Any:
            return ct

    Wrong.apply(leaf(lib, 1.0) * 1)


@case(72, [[2.0, 2.0], True])
def an_error_in_backward_leaves_nothing(lib: Any) -> Any:
    def failing(ctx: Any, ct: Any) -> Any:
        raise KeyError("mine")

    x = leaf(lib, 1.0, 1.0)
    y = _scaling(lib, failing).apply(x, 2.0).sum()
    try:
        y.backward()
    except KeyError:
        clean = x.grad is None and lib.is_grad_enabled()
    (2 * x).sum().backward()
    return x.grad, clean


# -- 73: modes -------------------------------------------------------------------------


def _parameter(lib: Any) -> Any:
    return lib.Parameter if hasattr(lib, "Parameter") else lib.nn.Parameter


@case(73, [False, True, True])
def results_without_a_tape(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    with lib.no_grad():
        y = x * 2
        p = _parameter(lib)(lib.ones(1))
    return y.requires_grad, y.is_leaf, p.requires_grad


@case(73, [2.0])
def backward_inside_no_grad(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    y = (2 * x).sum()
    with lib.no_grad():
        y.backward()
    return x.grad


@case(73, [False, True, False, True, True])
def modes_nest(lib: Any) -> Any:
    found = []
    with lib.no_grad():
        found.append(lib.is_grad_enabled())
        with lib.enable_grad():
            found.append(lib.is_grad_enabled())
        found.append(lib.is_grad_enabled())
        with lib.set_grad_enabled(True):
            found.append(lib.is_grad_enabled())
    return *found, lib.is_grad_enabled()


@case(73, [False, True])
def set_grad_enabled_as_a_call(lib: Any) -> Any:
    lib.set_grad_enabled(False)
    off = lib.is_grad_enabled()
    lib.set_grad_enabled(True)
    return off, lib.is_grad_enabled()


@case(73, [False, True, False, True, True])
def modes_decorate(lib: Any) -> Any:
    plain = lib.no_grad(lib.is_grad_enabled)
    called = lib.enable_grad()(lib.is_grad_enabled)
    chosen = lib.set_grad_enabled(False)(lib.is_grad_enabled)
    with lib.no_grad():
        inner = called()
    return plain(), inner, chosen(), lib.is_grad_enabled(), called()


@case(73, [[False, True, False, True], "end"])
def modes_decorate_generators(lib: Any) -> Any:
    result: list[str] = []

    @lib.no_grad()
    def steps() -> Any:
        yield lib.is_grad_enabled()
        yield lib.is_grad_enabled()
        return "end"

    def outer() -> Any:
        result.append((yield from steps()))

    found = []
    for value in outer():
        found += [value, lib.is_grad_enabled()]
    return found, result[0]


@case(73, [["sent", "caught", False], True])
def decorated_generators_take_values_and_errors(lib: Any) -> Any:
    seen: list[Any] = []

    @lib.no_grad()
    def steps() -> Any:
        seen.append((yield 1))
        try:
            yield 2
        except KeyError:
            seen.append("caught")
            seen.append(lib.is_grad_enabled())
        yield 3

    generator = steps()
    next(generator)
    generator.send("sent")
    generator.throw(KeyError())
    generator.close()
    return seen, lib.is_grad_enabled()


@case(73, Raises(RuntimeError))
def an_inference_tensor_is_not_saved(lib: Any) -> Any:
    with lib.inference_mode():
        t = lib.ones(2)
    return leaf(lib, 1.0, 1.0) * t


@case(73, [[2.0, 2.0], True, True, False, False])
def an_inference_tensor_in_a_sum(lib: Any) -> Any:
    with lib.inference_mode():
        t = lib.ones(2)
    y = leaf(lib, 1.0, 1.0) + t
    return (
        y,
        y.requires_grad,
        t[1:].is_inference(),
        (t + 1).is_inference(),
        y.is_inference(),
    )


@case(73, Raises(RuntimeError))
def an_inference_tensor_is_not_written(lib: Any) -> Any:
    with lib.inference_mode():
        t = lib.ones(2)
    t.add_(1)


@case(73, Raises(RuntimeError))
def an_inference_tensor_has_no_version(lib: Any) -> Any:
    with lib.inference_mode():
        return lib.ones(2)._version


@case(73, Raises(RuntimeError))
def an_inference_tensor_requires_no_gradient(lib: Any) -> Any:
    with lib.inference_mode():
        t = lib.ones(2)
    t.requires_grad_()


@case(73, [False, True, [2.0, 2.0], True])
def inside_inference_mode(lib: Any) -> Any:
    x = lib.ones(2)
    with lib.inference_mode():
        assert lib.tensor([1.0]).is_inference()
        view, made = x[1:], x * 1
        made.add_(1)
        active = lib.is_inference_mode_enabled()
    return view.is_inference(), made.is_inference(), made, active


# -- 74, 75, 77 ------------------------------------------------------------------------


@case(74, [[[2.0], [2.0], [2.0]], [3.0, 3.0], 6.0])
def broadcast_gradients_are_summed(lib: Any) -> Any:
    x = lib.ones(3, 1, requires_grad=True)
    y = lib.ones(2, requires_grad=True)
    z = lib.tensor(1.0, requires_grad=True)
    (x + y + z).sum().backward()
    return x.grad, y.grad, z.grad


@case(75, [[1.0], [1.0], [1.0]])
def a_gradient_is_a_copy_of_what_the_caller_passed(lib: Any) -> Any:
    found = []
    for function in (lambda x: x, lambda x: x + 1, lambda x: x.neg().neg()):
        x, given = leaf(lib, 1.0), lib.ones(1)
        function(x).backward(given)
        given.fill_(9)
        found.append(x.grad)
    return found


@case(75, [1.0], deviates=True)
def a_gradient_is_a_copy_through_a_view(lib: Any) -> Any:
    x, given = leaf(lib, 1.0), lib.ones(1)
    x.view(1).backward(given)
    given.fill_(9)
    return x.grad


@case(75, [[1.0], [6.0]])
def gradients_of_a_sum_are_two_tensors(lib: Any) -> Any:
    x, y = leaf(lib, 1.0), leaf(lib, 1.0)
    (x + y).sum().backward()
    y.grad.add_(5)
    return x.grad, y.grad


@case(77, Raises(RuntimeError))
def out_with_gradients(lib: Any) -> Any:
    lib.exp(leaf(lib, 1.0), out=lib.ones(1))


@case(77, Raises(RuntimeError))
def detaching_a_view_in_place(lib: Any) -> Any:
    (leaf(lib, 1.0, 2.0) * 1)[1:].detach_()


@case(77, [False, True, False])
def detaching_in_place(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    y = (x * 1).detach_()
    return y.requires_grad, y.is_leaf, x.detach_().requires_grad


@case(77, [[1.0], True])
def a_copy_of_a_leaf_is_a_leaf(lib: Any) -> Any:
    x = leaf(lib, 1.0)
    y = copy.copy(x)
    return y, y.is_leaf


# -- a failed write leaves the target --------------------------------------------------


@case(25, [[1.0, 2.0], 0, [1, 2], [1.0, 2.0]])
def a_failed_write_changes_nothing(lib: Any) -> Any:
    x, i = lib.tensor([1.0, 2.0]), lib.tensor([1, 2])
    y = leaf(lib, 1.0, 2.0)
    for write in (
        lambda: x.add_(lib.ones(3)),
        lambda: x.add_(lib.ones(2, 2)),
        lambda: x.add_("text"),
        lambda: x.copy_(lib.ones(3)),
        lambda: i.add_(1.5),
        lambda: i.div_(2),
        lambda: y.add_(1),
        lambda: y[1:].add_(1),
    ):
        try:
            write()
        except (RuntimeError, TypeError):
            continue
        raise AssertionError("nothing was raised")
    return x, x._version, i, y
