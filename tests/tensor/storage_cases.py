"""Lines 16 to 37 of `semantics.md`: storage, views, writes in place, versions."""

import copy
import pickle
from typing import Any

import numpy as np

from tests.support.cases import Cases, Raises

case = Cases()


@case(16, Raises(RuntimeError))
def view_of_a_transposed(lib: Any) -> Any:
    return lib.ones(2, 3).t().view(6)


@case(16, [[0.0, 3.0, 1.0, 4.0, 2.0, 5.0], False, True])
def reshape_copies_or_shares(lib: Any) -> Any:
    x = lib.arange(6.0).reshape(2, 3)
    copied = x.t().reshape(6)
    shared = x.reshape(3, 2)
    pointer = x.data_ptr()
    return copied, copied.data_ptr() == pointer, shared.data_ptr() == pointer


@case(16, Raises(RuntimeError))
def ambiguous_size(lib: Any) -> Any:
    return lib.ones(0, 3).view(-1, 0)


@case(17, [True, True, True, False])
def the_same_object(lib: Any) -> Any:
    x = lib.ones(2)
    return x.contiguous() is x, x.to(lib.float32) is x, x.float() is x, x.clone() is x


@case(17, [(1, 2), (1, 2), (1, 2), (1, 2)])
def stride_order_is_kept(lib: Any) -> Any:
    x = lib.ones(3, 2).t()
    return [tuple(t.stride()) for t in (x, x.clone(), x + x, x * 2.0)]


@case(18, True)
def size_one_strides_do_not_matter(lib: Any) -> Any:
    return lib.ones(3, 1).t().is_contiguous()


@case(19, [(0, 1), (2, 3)])
def expand_has_stride_zero(lib: Any) -> Any:
    x = lib.ones(3).expand(2, -1)
    return tuple(x.stride()), tuple(x.shape)


@case(19, Raises(RuntimeError))
def writing_into_expanded(lib: Any) -> Any:
    lib.ones(1).expand(3).add_(1)


@case(20, Raises(RuntimeError))
def assignment_of_an_overlapping_slice(lib: Any) -> Any:
    x = lib.arange(4.0)
    x[1:] = x[:-1]


@case(20, Raises(RuntimeError))
def addition_of_an_overlapping_slice(lib: Any) -> Any:
    x = lib.arange(4.0)
    x[1:].add_(x[:-1])


@case(20, [2.0, 4.0])
def the_same_memory_is_no_partial_overlap(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0])
    return x[:].add_(x)


@case(21, Raises(RuntimeError))
def a_larger_operand(lib: Any) -> Any:
    lib.ones(1).add_(lib.ones(3))


@case(21, [[2.0] * 3] * 2)
def a_smaller_operand(lib: Any) -> Any:
    return lib.ones(2, 3).add_(lib.ones(3))


@case(22, [[9.0, 1.0], [2.0, 3.0]])
def rows_are_views(lib: Any) -> Any:
    x = lib.arange(4.0).reshape(2, 2)
    for row in x:
        row[0].fill_(9)
        break
    return x


@case(22, [[7.0, 1.0], 0, ()])
def an_item_is_a_view(lib: Any) -> Any:
    x = lib.tensor([0.0, 1.0])
    item = x[0]
    item.fill_(7)
    return x, item.ndim, tuple(item.shape)


@case(23, [1, 1, 1, 2, 2])
def a_write_bumps_base_and_views(lib: Any) -> Any:
    x = lib.ones(3)
    v, w = x[1:], x[:1]
    v.add_(1)
    first = [x._version, v._version, w._version]
    x.add_(1)
    return [*first, v._version, w._version]


@case(23, [1, 1])
def a_write_through_detach_bumps(lib: Any) -> Any:
    x = lib.ones(3, requires_grad=True)
    y = x.detach()
    y.add_(1)
    return x._version, y._version


@case(23, [0, 0, [2.0, 2.0]])
def a_write_through_data_does_not(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    x.data.add_(1)
    return x._version, x.data._version, x


@case(23, [0, [5.0, 1.0]])
def a_write_through_numpy_does_not(lib: Any) -> Any:
    x = lib.ones(2)
    x.numpy()[0] = 5
    return x._version, x


@case(24, Raises(RuntimeError))
def sigmoid_and_a_detached_write(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    y = x.sigmoid()
    y.detach().zero_()
    y.sum().backward()


@case(24, [0.0, 0.0])
def sigmoid_and_a_write_to_data(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    y = x.sigmoid()
    y.data.zero_()
    y.sum().backward()
    return x.grad


@case(25, Raises(RuntimeError))
def a_leaf_refuses(lib: Any) -> Any:
    lib.ones(2, requires_grad=True).add_(1)


@case(25, Raises(RuntimeError))
def a_view_of_a_leaf_refuses(lib: Any) -> Any:
    lib.ones(2, requires_grad=True)[0].mul_(2)


@case(25, Raises(RuntimeError))
def an_item_of_a_leaf_refuses(lib: Any) -> Any:
    lib.ones(2, requires_grad=True)[0] = 5


@case(25, [[7.0, 4.0], 3, True])
def a_leaf_accepts_without_gradients(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    with lib.no_grad():
        x.add_(1)
        x[1].mul_(2)
        x[0] = 7
    return x, x._version, x.is_leaf


@case(26, [[1.0, 10.0, 10.0], True])
def a_write_into_a_view_moves_the_base(lib: Any) -> Any:
    x = lib.ones(3, requires_grad=True)
    y = x * 1
    before = y.grad_fn
    y[1:].mul_(10)
    y.sum().backward()
    return x.grad, y.grad_fn is not before


@case(26, [[1.0, 10.0, 30.0], [1.0, 10.0, 30.0]])
def writes_into_views_of_views(lib: Any) -> Any:
    x = lib.ones(3, requires_grad=True)
    y = x * 1
    v = y[1:]
    v.mul_(10)
    v[1:].mul_(3)
    y.sum().backward()
    return x.grad, y


@case(27, [2.0, 2.0, 2.0])
def a_view_is_regenerated(lib: Any) -> Any:
    x = lib.ones(3, requires_grad=True)
    y = x * 1
    v = y.view(3)
    y.mul_(2)
    v.sum().backward()
    return x.grad


@case(27, [2.0, 6.0, 6.0])
def another_view_sees_the_write(lib: Any) -> Any:
    x = lib.ones(3, requires_grad=True)
    y = x * 1
    v, w = y[1:], y.view(3, 1)
    y.mul_(2)
    v.mul_(3)
    w.sum().backward()
    return x.grad


@case(28, [True, [2.0], [0.0, 4.0, 0.0]])
def a_base_becomes_tracked(lib: Any) -> Any:
    w = lib.tensor([2.0], requires_grad=True)
    base = lib.zeros(3)
    base[1:2] = w * 2
    base.sum().backward()
    return base.requires_grad, w.grad, base


@case(29, Raises(RuntimeError))
def one_of_unbind_refuses(lib: Any) -> Any:
    x = lib.ones(3, requires_grad=True) * 1
    x.unbind()[0].mul_(2)


@case(29, Raises(RuntimeError))
def one_of_split_refuses(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True) * 1
    x.split(2)[1].zero_()


@case(29, Raises(RuntimeError))
def one_of_chunk_refuses(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True) * 1
    x.chunk(2)[0].add_(1)


@case(29, Raises(RuntimeError))
def a_view_of_one_of_split_refuses(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True) * 1
    x.split(2)[0][1:].mul_(2)


@case(29, Raises(RuntimeError))
def one_of_split_after_its_base_was_written(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True) * 1
    part = x.split(2)[0]
    x.mul_(2)
    return part.grad_fn


@case(29, [[3.0, 3.0, 1.0, 1.0], [2.0, 1.0]])
def several_views_without_gradients(lib: Any) -> Any:
    x, y = lib.ones(4), lib.ones(2)
    x.split(2)[0].mul_(3)
    y.unbind()[0].mul_(2)
    return x, y


@case(30, Raises(RuntimeError))
def a_view_made_without_gradients(lib: Any) -> Any:
    y = lib.ones(3, requires_grad=True) * 1
    with lib.no_grad():
        v = y[1:]
    v.mul_(2)


@case(30, Raises(RuntimeError))
def a_view_made_without_gradients_takes_no_gradient(lib: Any) -> Any:
    y, w = lib.zeros(3), lib.ones(2, requires_grad=True)
    with lib.no_grad():
        v = y[1:]
    v.mul_(w)


@case(30, Raises(RuntimeError))
def a_view_made_without_gradients_after_a_write(lib: Any) -> Any:
    y = lib.ones(3, requires_grad=True) * 1
    with lib.no_grad():
        v = y[1:]
    y.mul_(2)
    return v.requires_grad and v.grad_fn


@case(30, [[1.0, 2.0, 2.0], [1.0, 3.0, 3.0]])
def a_view_made_without_gradients_of_a_plain_base(lib: Any) -> Any:
    y, z = lib.ones(3), lib.ones(3, requires_grad=True)
    with lib.no_grad():
        v, w = y[1:], z[1:]
        w.mul_(3)
    v.mul_(2)
    return y, z


@case(31, [[2.0, 2.0], [3.0, 3.0]])
def a_write_without_gradients(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    y = x * 2
    with lib.no_grad():
        y.add_(1)
    y.sum().backward()
    return x.grad, y


@case(32, [True, [0.0, 0.0], True, [0.0, 0.0]])
def zero_and_fill_keep_the_gradient_path(lib: Any) -> Any:
    x, z = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)
    y, w = (2 * x).zero_(), (2 * z).fill_(3)
    y.sum().backward()
    w.sum().backward()
    return y.requires_grad, x.grad, w.requires_grad, z.grad


@case(32, [[0.0, 0.0], [1.0, 1.0]])
def copy_gives_the_gradient_to_its_source(lib: Any) -> Any:
    x, z = lib.ones(2, requires_grad=True), lib.ones(2, requires_grad=True)
    y = 2 * x
    y.copy_(z)
    y.sum().backward()
    return x.grad, z.grad


@case(32, [True, [0.0, 0.0]])
def copy_of_a_plain_source(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    y = (2 * x).copy_(lib.zeros(2))
    y.sum().backward()
    return y.requires_grad, x.grad


@case(32, [[0.0, 2.0], 3.0])
def assignment_of_a_part(lib: Any) -> Any:
    x, z = lib.ones(2, requires_grad=True), lib.tensor(4.0, requires_grad=True)
    y = 2 * x
    y[0] = 3 * z
    y.sum().backward()
    return x.grad, z.grad


@case(33, [2.0, 1.0, 0.0], deviates=True)
def negative_steps(lib: Any) -> Any:
    return lib.arange(3.0)[::-1]


@case(33, [2.0, 1.0, 0.0], deviates=True)
def an_array_of_negative_strides(lib: Any) -> Any:
    return lib.from_numpy(np.arange(3.0)[::-1])


@case(34, Raises(RuntimeError))
def numpy_of_a_tracked_tensor(lib: Any) -> Any:
    lib.ones(2, requires_grad=True).numpy()


@case(34, [[1.0, 8.0], [1.0, 1.0]])
def numpy_shares_memory(lib: Any) -> Any:
    x = lib.ones(2)
    x.numpy()[1] = 8
    return x, lib.ones(2, requires_grad=True).numpy(force=True).tolist()


@case(35, Raises(RuntimeError))
def deepcopy_of_a_non_leaf(lib: Any) -> Any:
    copy.deepcopy(lib.ones(2, requires_grad=True) * 2)


@case(35, [[1.0, 1.0], [2.0, 2.0], True, False, False])
def deepcopy_of_a_leaf(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    (2 * x).sum().backward()
    y = copy.deepcopy(x)
    return (
        y,
        y.grad,
        y.requires_grad,
        y.grad is x.grad,
        y.data_ptr() == x.data_ptr(),
    )


@case(35, [True, [9.0, 1.0], True])
def deepcopy_keeps_identity_and_aliasing(lib: Any) -> Any:
    x = lib.ones(2)
    first, second, part = copy.deepcopy([x, x, x[:1]])
    part.fill_(9)
    return first is second, first, first.data_ptr() != x.data_ptr()


@case(36, [9.0, 1.0, 1.0], deviates=True)
def pickle_keeps_aliasing(lib: Any) -> Any:
    x = lib.ones(3)
    whole, part = pickle.loads(pickle.dumps((x, x[:1])))
    part.fill_(9)
    return whole


@case(37, [(2, 2), 0, True])
def data_of_another_shape(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    x.data = lib.zeros(2, 2)
    return tuple(x.shape), x._version, x.requires_grad


@case(37, Raises(RuntimeError))
def data_of_an_integer_dtype(lib: Any) -> Any:
    lib.ones(4, requires_grad=True).data = lib.ones(4).long()


@case(37, Raises(RuntimeError))
def a_gradient_of_another_shape(lib: Any) -> Any:
    lib.ones(4, requires_grad=True).grad = lib.ones(3)


@case(37, Raises(RuntimeError))
def a_gradient_of_another_dtype(lib: Any) -> Any:
    lib.ones(4, requires_grad=True).grad = lib.ones(4, dtype=lib.float64)


@case(37, Raises(TypeError))
def a_gradient_that_is_no_tensor(lib: Any) -> Any:
    lib.ones(4, requires_grad=True).grad = 1


@case(37, Raises(RuntimeError))
def a_tensor_as_its_own_gradient(lib: Any) -> Any:
    x = lib.ones(4, requires_grad=True)
    x.grad = x


@case(37, [[1.0, 1.0], None])
def a_gradient_is_assigned_and_cleared(lib: Any) -> Any:
    x = lib.ones(2, requires_grad=True)
    given = lib.ones(2)
    x.grad = given
    kept = x.grad is given and x.grad
    x.grad = None
    return kept, x.grad


@case(51, Raises(RuntimeError))
def truth_of_an_empty_tensor(lib: Any) -> Any:
    bool(lib.ones(0))


@case(51, Raises(RuntimeError))
def truth_of_two_elements(lib: Any) -> Any:
    bool(lib.ones(2))


@case(51, [False, True, 2, -2, 2.5])
def conversions_of_one_element(lib: Any) -> Any:
    return (
        bool(lib.tensor([[0.0]])),
        bool(lib.tensor([[float("nan")]])),
        int(lib.tensor(2.7)),
        int(lib.tensor(-2.7)),
        float(lib.tensor([2.5])),
    )


@case(51, Raises(TypeError))
def len_of_a_0_dim(lib: Any) -> Any:
    len(lib.tensor(1.0))


@case(51, Raises(TypeError))
def iteration_of_a_0_dim(lib: Any) -> Any:
    list(lib.tensor(1.0))


@case(51, [False, True, True, 2])
def equality_and_hash(lib: Any) -> Any:
    x, y = lib.tensor([1.0]), lib.tensor([1.0])
    return x == None, x != None, hash(x) == hash(x), len({x, y, x})  # noqa: E711


@case(51, Raises(TypeError))
def a_float_is_no_index(lib: Any) -> Any:
    return [1, 2, 3][lib.tensor(1.0)]


@case(51, [2, 3])
def an_integer_is_an_index(lib: Any) -> Any:
    return [1, 2, 3][lib.tensor(1)], [1, 2, 3][lib.tensor([2])]


@case(58, [[2.0, 4.0], [2.0, 4.0], True, True], deviates=True)
def arrays_meet_tensors(lib: Any) -> Any:
    x, a = lib.tensor([1.0, 2.0]), np.array([2.0, 2.0], dtype=np.float32)
    left, right = a * x, x * a
    return left, right, isinstance(left, lib.Tensor), isinstance(right, lib.Tensor)


@case(58, ["float32", "float32", [2.0, 4.0]])
def numpy_numbers_are_weak(lib: Any) -> Any:
    x = lib.tensor([1.0, 2.0])
    y = x * np.float64(2)
    return y.dtype, (np.float64(2) * x).dtype, y
