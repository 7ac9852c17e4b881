"""Written by tools/generate.py, which see; not by hand."""

from tracegrad import autograd as autograd
from tracegrad import errors as errors
from tracegrad.autograd import enable_grad as enable_grad
from tracegrad.autograd import inference_mode as inference_mode
from tracegrad.autograd import is_grad_enabled as is_grad_enabled
from tracegrad.autograd import is_inference_mode_enabled as is_inference_mode_enabled
from tracegrad.autograd import no_grad as no_grad
from tracegrad.autograd import set_grad_enabled as set_grad_enabled
from tracegrad.config import config as config
from tracegrad.device import Device as Device
from tracegrad.device import device as device
from tracegrad.dispatch.generator import Generator as Generator
from tracegrad.dispatch.generator import default_generator as default_generator
from tracegrad.dispatch.memory_format import channels_last as channels_last
from tracegrad.dispatch.memory_format import channels_last_3d as channels_last_3d
from tracegrad.dispatch.memory_format import contiguous_format as contiguous_format
from tracegrad.dispatch.memory_format import preserve_format as preserve_format
from tracegrad.dispatch.printing import set_printoptions as set_printoptions
from tracegrad.dispatch.tensor import Parameter as Parameter
from tracegrad.dispatch.tensor import Tensor as Tensor
from tracegrad.dtypes import get_default_dtype as get_default_dtype
from tracegrad.dtypes import promote_types as promote_types
from tracegrad.dtypes import set_default_dtype as set_default_dtype
from tracegrad.numeric_limits import finfo as finfo
from tracegrad.numeric_limits import iinfo as iinfo
from tracegrad.ops.old_spellings import strided as strided
from tracegrad.sizes import Size as Size
from tracegrad.dtypes import DType as _DType
from tracegrad import accelerator as accelerator
from tracegrad import amp as amp
from tracegrad import array_api as array_api
from tracegrad.amp import autocast as autocast
from tracegrad import backends as backends
from tracegrad.amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
from tracegrad import codegen as codegen
from tracegrad import cuda as cuda
from tracegrad import data as data
from tracegrad import distributions as distributions
from tracegrad import fft as fft
from tracegrad import func as func
from tracegrad.amp import get_autocast_dtype as get_autocast_dtype
from tracegrad.func import grad as grad
from tracegrad import ir as ir
from tracegrad.amp import is_autocast_cache_enabled as is_autocast_cache_enabled
from tracegrad.amp import is_autocast_enabled as is_autocast_enabled
from tracegrad import library as library
from tracegrad import linalg as linalg
from tracegrad.serialization import load as load
from tracegrad import multiprocessing as multiprocessing
from tracegrad import nn as nn
from tracegrad import optim as optim
from tracegrad import passes as passes
from tracegrad import profiler as profiler
from tracegrad import return_types as return_types
from tracegrad.serialization import save as save
from tracegrad import serialization as serialization
from tracegrad.amp import set_autocast_cache_enabled as set_autocast_cache_enabled
from tracegrad.amp import set_autocast_dtype as set_autocast_dtype
from tracegrad.amp import set_autocast_enabled as set_autocast_enabled
from tracegrad import special as special
from tracegrad import testing as testing
from tracegrad.api import trace as trace
from tracegrad import utils as utils
from tracegrad.func import value_and_grad as value_and_grad
import builtins
from collections.abc import Sequence
from tracegrad.device import Device
from tracegrad.dispatch.generator import Generator
from tracegrad.dispatch.memory_format import MemoryFormat
from tracegrad.dispatch.results import (
    MinMax,
    OldSVD,
    QR,
    SignLogDet,
    TriangularSolution,
    ValuesIndices,
)
from tracegrad.dtypes import DType
from tracegrad.ops.lu_factors import Factors
from tracegrad.ops.whole_numbers import Frexp
from tracegrad.sizes import Size
from typing import Any

__version__: str
bfloat16: _DType
bool: _DType
cdouble: _DType
cfloat: _DType
complex128: _DType
complex64: _DType
double: _DType
float: _DType
float16: _DType
float32: _DType
float64: _DType
half: _DType
int: _DType
int16: _DType
int32: _DType
int64: _DType
int8: _DType
long: _DType
short: _DType
uint8: _DType

def abs(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Distance of each element from 0; the smallest integer stays what it is."""
def acos(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle from 0 to pi whose cosine each element is."""
def acosh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Number from 0 up whose hyperbolic cosine each element is."""
def adaptive_avg_pool1d(
    input: Tensor,
    output_size: builtins.int | tuple[builtins.int | None, ...],
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of as many windows as asked over one dimension."""
def adaptive_avg_pool2d(
    input: Tensor,
    output_size: builtins.int | tuple[builtins.int | None, ...] | None,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of as many windows as asked over two dimensions."""
def adaptive_avg_pool3d(
    input: Tensor,
    output_size: builtins.int | tuple[builtins.int | None, ...] | None,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of as many windows as asked over three dimensions."""
def adaptive_max_pool1d(
    input: Tensor,
    output_size: builtins.int | tuple[builtins.int | None, ...],
    return_indices: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Largest element of as many windows as asked over one dimension."""
def adaptive_max_pool2d(
    input: Tensor,
    output_size: builtins.int | tuple[builtins.int | None, ...],
    return_indices: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Largest element of as many windows as asked over two dimensions."""
def adaptive_max_pool3d(
    input: Tensor,
    output_size: builtins.int | tuple[builtins.int | None, ...],
    return_indices: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Largest element of as many windows as asked over three dimensions."""
def addbmm(
    input: Tensor,
    batch1: Tensor | builtins.complex,
    batch2: Tensor | builtins.complex,
    *,
    beta: builtins.complex = ...,
    alpha: builtins.complex = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """``beta * input`` plus alpha times the sum of the batches' products."""
def addmm(
    input: Tensor,
    mat1: Tensor | builtins.complex,
    mat2: Tensor | builtins.complex,
    *,
    beta: builtins.complex = ...,
    alpha: builtins.complex = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """``beta * input + alpha * (mat1 @ mat2)``; `input` is not read if beta is 0."""
def addmv(
    input: Tensor,
    mat: Tensor | builtins.complex,
    vec: Tensor | builtins.complex,
    *,
    beta: builtins.complex = ...,
    alpha: builtins.complex = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """``beta * input + alpha * (mat @ vec)``; `input` is not read if beta is 0."""
def addr(
    input: Tensor,
    vec1: Tensor | builtins.complex,
    vec2: Tensor | builtins.complex,
    *,
    beta: builtins.complex = ...,
    alpha: builtins.complex = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """``beta * input + alpha * outer(vec1, vec2)``."""
def all(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether all elements over dimensions are not 0; of nothing True."""
def amax(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Largest element over dimensions; NaN if there is one."""
def amin(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Smallest element over dimensions; NaN if there is one."""
def angle(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle of each element with the positive real axis, from -pi to pi."""
def any(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether an element over dimensions is not 0; of nothing False."""
def argmax(
    input: Tensor,
    dim: builtins.int | None = ...,
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Index of the largest element, the first of equal ones; of NaN before all."""
def argmin(
    input: Tensor,
    dim: builtins.int | None = ...,
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Index of the smallest element, the first of equal ones; of NaN before all."""
def asin(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle from -pi/2 to pi/2 whose sine each element is."""
def asinh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Number whose hyperbolic sine each element is."""
def atan(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle from -pi/2 to pi/2 whose tangent each element is."""
def atan2(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Angle of the point (`other`, `input`), from -pi to pi."""
def atanh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Number whose hyperbolic tangent each element is."""
def avg_pool1d(
    input: Tensor,
    kernel_size: builtins.int | tuple[builtins.int, ...],
    stride: builtins.int | tuple[builtins.int, ...] | None = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    ceil_mode: builtins.bool = ...,
    count_include_pad: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of each window over one dimension, as `avg_pool2d`."""
def avg_pool2d(
    input: Tensor,
    kernel_size: builtins.int | tuple[builtins.int, ...],
    stride: builtins.int | tuple[builtins.int, ...] | None = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    ceil_mode: builtins.bool = ...,
    count_include_pad: builtins.bool = ...,
    divisor_override: builtins.int | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of each window over two dimensions."""
def avg_pool3d(
    input: Tensor,
    kernel_size: builtins.int | tuple[builtins.int, ...],
    stride: builtins.int | tuple[builtins.int, ...] | None = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    ceil_mode: builtins.bool = ...,
    count_include_pad: builtins.bool = ...,
    divisor_override: builtins.int | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of each window over three dimensions, as `avg_pool2d`."""
def baddbmm(
    input: Tensor,
    batch1: Tensor | builtins.complex,
    batch2: Tensor | builtins.complex,
    *,
    beta: builtins.complex = ...,
    alpha: builtins.complex = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """``beta * input + alpha * bmm(batch1, batch2)``."""
def binary_cross_entropy(
    input: Tensor,
    target: Tensor | builtins.complex,
    weight: Tensor | None = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Cross entropy of probabilities; a logarithm is cut at -100."""
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor | builtins.complex,
    weight: Tensor | None = ...,
    reduction: str = ...,
    pos_weight: Tensor | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Cross entropy of probabilities given as logits, exact for large ones."""
def bitwise_and(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Bits that both elements have; of bools, "and"."""
def bitwise_left_shift(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Bits moved up; 0 for a count that is negative or not below the width."""
def bitwise_not(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """All bits inverted; of bools, "not"."""
def bitwise_or(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Bits that at least one element has; of bools, "or"."""
def bitwise_right_shift(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Bits moved down, the sign repeated."""
def bitwise_xor(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Bits that exactly one element has; of bools, "exclusive or"."""
def bmm(
    input: Tensor,
    mat2: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Products of the matrices of two batches of one size."""
def cast(input: Tensor, dtype: DType, *, out: Tensor | None = ...) -> Tensor:
    """Each element in another dtype; always a new tensor."""
def ceil(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Smallest integer not below each element."""
def clamp_max(
    input: Tensor,
    max: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each element, or the bound where that is smaller."""
def clamp_min(
    input: Tensor,
    min: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each element, or the bound where that is larger."""
def complex(
    real: Tensor,
    imag: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Complex numbers of two parts of one dtype."""
def conv1d(
    input: Tensor,
    weight: Tensor | builtins.complex,
    bias: Tensor | None = ...,
    stride: builtins.int | tuple[builtins.int, ...] = ...,
    padding: builtins.int | str | tuple[builtins.int, ...] = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    groups: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Cross-correlation over one dimension, as `conv2d`."""
def conv2d(
    input: Tensor,
    weight: Tensor | builtins.complex,
    bias: Tensor | None = ...,
    stride: builtins.int | tuple[builtins.int, ...] = ...,
    padding: builtins.int | str | tuple[builtins.int, ...] = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    groups: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Cross-correlation over two dimensions."""
def conv3d(
    input: Tensor,
    weight: Tensor | builtins.complex,
    bias: Tensor | None = ...,
    stride: builtins.int | tuple[builtins.int, ...] = ...,
    padding: builtins.int | str | tuple[builtins.int, ...] = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    groups: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Cross-correlation over three dimensions, as `conv2d`."""
def conv_transpose1d(
    input: Tensor,
    weight: Tensor | builtins.complex,
    bias: Tensor | None = ...,
    stride: builtins.int | tuple[builtins.int, ...] = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    output_padding: builtins.int | tuple[builtins.int, ...] = ...,
    groups: builtins.int = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """The transpose of `conv1d` in its input, as `conv_transpose2d`."""
def conv_transpose2d(
    input: Tensor,
    weight: Tensor | builtins.complex,
    bias: Tensor | None = ...,
    stride: builtins.int | tuple[builtins.int, ...] = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    output_padding: builtins.int | tuple[builtins.int, ...] = ...,
    groups: builtins.int = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """The transpose of `conv2d` in its input ("deconvolution")."""
def conv_transpose3d(
    input: Tensor,
    weight: Tensor | builtins.complex,
    bias: Tensor | None = ...,
    stride: builtins.int | tuple[builtins.int, ...] = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    output_padding: builtins.int | tuple[builtins.int, ...] = ...,
    groups: builtins.int = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """The transpose of `conv3d` in its input, as `conv_transpose2d`."""
def copysign(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Elements of `input` with the signs of `other`."""
def cos(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Cosine of each element, in radians."""
def cosh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Hyperbolic cosine of each element."""
def cosine_embedding_loss(
    input1: Tensor,
    input2: Tensor | builtins.complex,
    target: Tensor | builtins.complex,
    margin: builtins.float = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """1 less the cosine where the target is 1, the cosine above the margin where -1."""
def cosine_similarity(
    x1: Tensor,
    x2: Tensor | builtins.complex,
    dim: builtins.int = ...,
    eps: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Cosine of the angle between vectors along a dimension."""
def count_nonzero(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Number of elements over dimensions that are not 0, int64."""
def cross_entropy(
    input: Tensor,
    target: Tensor | builtins.complex,
    weight: Tensor | None = ...,
    ignore_index: builtins.int = ...,
    reduction: str = ...,
    label_smoothing: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Cross entropy of logits in dimension 1 with labels, or with probabilities."""
def cumprod(
    input: Tensor,
    dim: builtins.int,
    *,
    dtype: DType | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Running product along a dimension, of integers in int64."""
def cumsum(
    input: Tensor,
    dim: builtins.int,
    *,
    dtype: DType | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Running sum along a dimension, of integers in int64."""
def diag_embed(
    input: Tensor,
    offset: builtins.int = ...,
    dim1: builtins.int = ...,
    dim2: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Matrices that have the last dimension on a diagonal and zeros elsewhere."""
def diagonal(
    input: Tensor,
    offset: builtins.int = ...,
    dim1: builtins.int = ...,
    dim2: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """The diagonal of two dimensions, as the last dimension."""
def digamma(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Derivative of `lgamma`; -inf at 0, NaN at negative integers."""
def dot(
    input: Tensor,
    tensor: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Sum of the products of two vectors' elements, without conjugation."""
def embedding(
    weight: Tensor,
    indices: Tensor,
    padding_idx: builtins.int | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Rows of a matrix; the row `padding_idx` gets no gradient."""
def eq(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether two tensors are equal, element by element."""
def erf(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Error function of each element."""
def erfc(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Complementary error function of each element, exact where it is tiny."""
def erfinv(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Number whose error function each element is; NaN outside of [-1, 1]."""
def exp(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Exponential of each element."""
def exp2(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Two to the power of each element."""
def expand(input: Tensor, *size: builtins.int, out: Tensor | None = ...) -> Tensor:
    """Dimensions of size 1 repeated, without a copy; -1 keeps a size."""
def expm1(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Exponential of each element less 1, exact near 0."""
def flip(input: Tensor, *dims: builtins.int, out: Tensor | None = ...) -> Tensor:
    """The elements in the opposite order along dimensions; a copy."""
def float_power(
    input: Tensor,
    exponent: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Power computed in float64, or complex128."""
def floor(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Largest integer not above each element."""
def floor_divide(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Quotient rounded down, also of integers; it has no derivative."""
def fmax(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Larger element of two; the other one where one is NaN."""
def fmin(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Smaller element of two; the other one where one is NaN."""
def fmod(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Remainder with the sign of the dividend, as C's ``fmod``."""
def frac(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """What is left of each element without its integer part, with its sign."""
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    var: Tensor | builtins.complex,
    full: builtins.bool = ...,
    eps: builtins.float = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Negative logarithm of the normal density of the target."""
def gcd(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Greatest common divisor of integers; that of two zeros is 0."""
def ge(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether `input` is greater than or equal to `other`, element by element."""
def glu(input: Tensor, dim: builtins.int = ..., *, out: Tensor | None = ...) -> Tensor:
    """First half along a dimension times the logistic function of the second."""
def group_norm(
    input: Tensor,
    num_groups: builtins.int,
    weight: Tensor | None = ...,
    bias: Tensor | None = ...,
    eps: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each group of channels less its mean, over its standard deviation."""
def gt(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether `input` is greater than `other`, element by element."""
def hardshrink(
    input: Tensor,
    lambd: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each element, or 0 where it is within `lambd` of 0."""
def heaviside(
    input: Tensor,
    values: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """0 below 0, 1 above it, and `values` at 0."""
def hinge_embedding_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    margin: builtins.float = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """The input where the target is 1; what it lacks to the margin where -1."""
def histc(
    input: Tensor,
    bins: builtins.int = ...,
    min: builtins.float = ...,
    max: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """How many elements are in each of equal bins from min to max."""
def huber_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    reduction: str = ...,
    delta: builtins.float = ...,
    weight: Tensor | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of the differences' squares, of their magnitudes where above `delta`."""
def hypot(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Length of the vector (`input`, `other`), without overflow on the way."""
def i0(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Modified Bessel function of the first kind, of order 0."""
def igamma(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Lower regularized incomplete gamma function of `input`, up to `other`."""
def igammac(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Upper regularized incomplete gamma function of `input`, from `other` on."""
def inner(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Sums of products over the last dimension of both; scales by a 0-dim tensor."""
def isclose(
    input: Tensor,
    other: Tensor | builtins.complex,
    rtol: builtins.float = ...,
    atol: builtins.float = ...,
    equal_nan: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether elements differ by no more than ``atol + rtol * |other|``."""
def isfinite(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether each element is neither infinite nor NaN."""
def isinf(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether each element is infinite; a complex one if a part is."""
def isnan(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether each element is NaN; a complex one if a part is."""
def isneginf(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether each element is infinity with a minus sign."""
def isposinf(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether each element is infinity with a plus sign."""
def isreal(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether the imaginary part of each element is zero."""
def kl_div(
    input: Tensor,
    target: Tensor | builtins.complex,
    reduction: str = ...,
    log_target: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Kullback-Leibler divergence; `input` holds logarithms."""
def kron(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Kronecker product: each element of `input` times the whole of `other`."""
def l1_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    reduction: str = ...,
    weight: Tensor | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of the differences' magnitudes; the derivative at 0 is 0."""
def layer_norm(
    input: Tensor,
    normalized_shape: tuple[builtins.int, ...],
    weight: Tensor | None = ...,
    bias: Tensor | None = ...,
    eps: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each example less its mean, over its standard deviation."""
def lcm(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Least common multiple of integers; 0 if one is 0."""
def ldexp(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """``input * 2 ** other``."""
def le(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether `input` is less than or equal to `other`, element by element."""
def lerp(
    input: Tensor,
    end: Tensor | builtins.complex,
    weight: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Straight line from `input` (weight 0) to `end` (weight 1)."""
def lgamma(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Logarithm of the size of the gamma function; inf at 0 and negative integers."""
def linear(
    input: Tensor,
    weight: Tensor | builtins.complex,
    bias: Tensor | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """``input @ weight.T + bias``."""
def log(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Natural logarithm of each element."""
def log10(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Logarithm to base 10 of each element."""
def log1p(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Natural logarithm of each element plus 1, exact near 0."""
def log2(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Logarithm to base 2 of each element."""
def log_softmax(
    input: Tensor,
    dim: builtins.int,
    dtype: DType | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Logarithm of the softmax along a dimension, exact where that is tiny."""
def logaddexp(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Logarithm of the sum of the exponentials of two tensors."""
def logaddexp2(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Logarithm to base 2 of the sum of two powers of 2, without overflow."""
def logcumsumexp(
    input: Tensor,
    dim: builtins.int,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Logarithm of the running sum of exponentials along a dimension."""
def logical_and(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether both elements are true."""
def logical_not(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether each element is false."""
def logical_or(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether at least one element is true."""
def logical_xor(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether exactly one element is true."""
def logsigmoid(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Logarithm of the logistic function, exact for large negative elements."""
def logsumexp(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...],
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Logarithm of the sum of exponentials over dimensions."""
def lt(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether `input` is less than `other`, element by element."""
def margin_ranking_loss(
    input1: Tensor,
    input2: Tensor | builtins.complex,
    target: Tensor | builtins.complex,
    margin: builtins.float = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """How far the first of two is from leading by the margin (target 1) or trailing."""
def matrix_exp(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Exponential of each square matrix, computed in double precision."""
def max_pool1d(
    input: Tensor,
    kernel_size: builtins.int | tuple[builtins.int, ...],
    stride: builtins.int | tuple[builtins.int, ...] | None = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    ceil_mode: builtins.bool = ...,
    return_indices: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Largest element of each window over one dimension, as `max_pool2d`."""
def max_pool2d(
    input: Tensor,
    kernel_size: builtins.int | tuple[builtins.int, ...],
    stride: builtins.int | tuple[builtins.int, ...] | None = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    ceil_mode: builtins.bool = ...,
    return_indices: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Largest element of each window over two dimensions."""
def max_pool3d(
    input: Tensor,
    kernel_size: builtins.int | tuple[builtins.int, ...],
    stride: builtins.int | tuple[builtins.int, ...] | None = ...,
    padding: builtins.int | tuple[builtins.int, ...] = ...,
    dilation: builtins.int | tuple[builtins.int, ...] = ...,
    ceil_mode: builtins.bool = ...,
    return_indices: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Largest element of each window over three dimensions, as `max_pool2d`."""
def maximum(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Larger element of two; NaN if there is one. Equal ones share the gradient."""
def mean(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    dtype: DType | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean over dimensions; half precision is summed in float32."""
def minimum(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Smaller element of two; NaN if there is one. Equal ones share the gradient."""
def mm(
    input: Tensor,
    mat2: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Product of two matrices."""
def mse_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    reduction: str = ...,
    weight: Tensor | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of the squared differences."""
def mul(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Product of two tensors; of bools, their "and"."""
def mv(
    input: Tensor,
    vec: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Product of a matrix and a vector."""
def nanmean(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    dtype: DType | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean over dimensions of the elements that are not NaN."""
def nansum(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    dtype: DType | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Sum over dimensions with NaN taken as 0."""
def ne(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Whether two tensors differ, element by element."""
def neg(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Negative of each element."""
def nextafter(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """The next floating number from `input` towards `other`."""
def nll_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    weight: Tensor | None = ...,
    ignore_index: builtins.int = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Negative of the label's element, of log-probabilities in dimension 1."""
def outer(
    input: Tensor,
    vec2: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Products of each element of one vector with each of another."""
def pairwise_distance(
    x1: Tensor,
    x2: Tensor | builtins.complex,
    p: builtins.float = ...,
    eps: builtins.float = ...,
    keepdim: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """p-norm of the differences of vectors along the last dimension."""
def permute(input: Tensor, *dims: builtins.int, out: Tensor | None = ...) -> Tensor:
    """The dimensions in another order."""
def poisson_nll_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    log_input: builtins.bool = ...,
    full: builtins.bool = ...,
    eps: builtins.float = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Negative logarithm of the Poisson probability of the target."""
def polar(
    abs: Tensor,
    angle: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Complex numbers of a length and an angle, in radians."""
def prelu(
    input: Tensor,
    weight: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each element, times a learned slope where it is not positive."""
def prod(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    dtype: DType | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Product over a dimension, or over all; of integers in int64."""
def reciprocal(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """One divided by each element."""
def remainder(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Remainder with the sign of the divisor, as Python's ``%``."""
def rms_norm(
    input: Tensor,
    normalized_shape: tuple[builtins.int, ...],
    weight: Tensor | None = ...,
    eps: builtins.float | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each example over the root of its mean square."""
def roll(
    input: Tensor,
    shifts: builtins.int | tuple[builtins.int, ...],
    dims: builtins.int | tuple[builtins.int, ...] | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """The elements moved along dimensions, the last ones to the front."""
def rsqrt(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """One divided by the square root of each element."""
def select(
    input: Tensor,
    dim: builtins.int,
    index: builtins.int,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """One place along a dimension, which disappears."""
def sgn(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Sign of each element; of a complex one, the direction, with length 1."""
def sigmoid(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Logistic function 1 / (1 + exp(-x)) of each element."""
def sign(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """-1, 0 or 1; 0 for NaN and -0.0."""
def signbit(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether each element has a minus sign, as -0.0 has."""
def sin(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Sine of each element, in radians."""
def sinc(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """sin(pi x) / (pi x), which is 1 at 0."""
def sinh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Hyperbolic sine of each element."""
def smooth_l1_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    reduction: str = ...,
    beta: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Mean of the differences' magnitudes, of their squares where below `beta`."""
def soft_margin_loss(
    input: Tensor,
    target: Tensor | builtins.complex,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """log(1 + exp(-target * input))."""
def softmax(
    input: Tensor,
    dim: builtins.int,
    dtype: DType | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Exponentials along a dimension, scaled to sum 1."""
def softmin(
    input: Tensor,
    dim: builtins.int,
    dtype: DType | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Softmax of the negative elements."""
def softshrink(
    input: Tensor,
    lambd: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Each element brought nearer to 0 by `lambd`, 0 where it is within."""
def softsign(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Each element over 1 plus its distance from 0."""
def split_with_sizes(
    input: Tensor,
    split_sizes: tuple[builtins.int, ...],
    dim: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> tuple[Tensor, ...]:
    """Parts of given sizes along a dimension."""
def sqrt(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Square root of each element; NaN for negative ones."""
def square(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Square of each element."""
def squeeze(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Dimensions of size 1 removed."""
def stack(
    tensors: Sequence[Tensor],
    dim: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Tensors of one shape along a new dimension."""
def sum(
    input: Tensor,
    dim: builtins.int | tuple[builtins.int, ...] | None = ...,
    keepdim: builtins.bool = ...,
    *,
    dtype: DType | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Sum over dimensions, of integers in int64."""
def take(input: Tensor, index: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Elements at indices, counted as if there were one dimension; negative too."""
def tan(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Tangent of each element, in radians."""
def tanh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Hyperbolic tangent of each element."""
def tanhshrink(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Each element less its hyperbolic tangent."""
def transpose(
    input: Tensor,
    dim0: builtins.int,
    dim1: builtins.int,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Two dimensions exchanged."""
def tril(
    input: Tensor,
    diagonal: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Matrices with zeros above a diagonal."""
def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor | builtins.complex,
    negative: Tensor | builtins.complex,
    margin: builtins.float = ...,
    p: builtins.float = ...,
    eps: builtins.float = ...,
    swap: builtins.bool = ...,
    reduction: str = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """How far the negative is from being farther off than the positive by the margin."""
def triu(
    input: Tensor,
    diagonal: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Matrices with zeros below a diagonal."""
def trunc(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Integer part of each element."""
def unbind(
    input: Tensor,
    dim: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> tuple[Tensor, ...]:
    """All places along a dimension, which disappears."""
def unsqueeze(input: Tensor, dim: builtins.int, *, out: Tensor | None = ...) -> Tensor:
    """A new dimension of size 1."""
def vdot(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """`dot` with the first vector conjugated."""
def view_as_complex(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Complex numbers of pairs in a last dimension of size 2, as a view."""
def view_as_real(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Real and imaginary parts as a last dimension of size 2, as a view."""
def xlogy(
    input: Tensor,
    other: Tensor | builtins.complex,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """``input * log(other)``, which is 0 where `input` is 0 and `other` not NaN."""
def BFloat16Tensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def BoolTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def ByteTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def CharTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def ComplexDoubleTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def ComplexFloatTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def DoubleTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def FloatTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def HalfTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def IntTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def LongTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def ShortTensor(*args: Any, **kwargs: Any) -> Tensor:
    """A constructor that makes tensors of one dtype, and knows them."""
def absolute(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Distance of each element from 0; the smallest integer stays what it is."""
def add(
    input: Any,
    other: Any,
    *,
    alpha: Any = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``input + alpha * other``."""
def addcdiv(
    input: Any,
    tensor1: Any,
    tensor2: Any,
    *,
    value: Any = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``input + value * tensor1 / tensor2``."""
def addcmul(
    input: Any,
    tensor1: Any,
    tensor2: Any,
    *,
    value: Any = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``input + value * tensor1 * tensor2``."""
def adjoint(self: Tensor) -> Tensor:
    """The last two dimensions exchanged and the elements conjugated."""
def allclose(
    input: Tensor,
    other: Tensor,
    rtol: builtins.float = ...,
    atol: builtins.float = ...,
    equal_nan: builtins.bool = ...,
) -> builtins.bool:
    """Return whether all elements differ by no more than ``atol + rtol * |other|``."""
def alpha_dropout(
    input: Tensor,
    p: builtins.float = ...,
    training: builtins.bool = ...,
    inplace: builtins.bool = ...,
) -> Tensor:
    """Return `input` with elements set to SELU's limit at random, moments kept."""
def aminmax(
    input: Tensor,
    *,
    dim: builtins.int | None = ...,
    keepdim: builtins.bool = ...,
) -> MinMax:
    """Return the smallest and the largest element, of all or along a dimension."""
def arange(
    start: Any,
    end: Any = ...,
    step: Any = ...,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make the numbers from `start` to before `end`, a `step` apart."""
def arccos(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle from 0 to pi whose cosine each element is."""
def arccosh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Number from 0 up whose hyperbolic cosine each element is."""
def arcsin(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle from -pi/2 to pi/2 whose sine each element is."""
def arcsinh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Number whose hyperbolic sine each element is."""
def arctan(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle from -pi/2 to pi/2 whose tangent each element is."""
def arctan2(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Angle of the point (`other`, `input`), from -pi to pi."""
def arctanh(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Number whose hyperbolic tangent each element is."""
def argsort(
    input: Tensor,
    dim: builtins.int = ...,
    descending: builtins.bool = ...,
    stable: builtins.bool = ...,
) -> Tensor:
    """Return the indices that sort `input` along `dim`."""
def argwhere(input: Tensor) -> Tensor:
    """Return the indices of the elements that are not 0, a row for each."""
def as_strided(
    input: Tensor,
    size: Any,
    stride: Any,
    storage_offset: builtins.int | None = ...,
) -> Tensor:
    """Return a view of the storage of `input` with free sizes and strides."""
def as_strided_scatter(
    input: Tensor,
    src: Tensor,
    size: Any,
    stride: Any,
    storage_offset: builtins.int | None = ...,
) -> Tensor:
    """Return a copy of `input` with `src` in the part that `as_strided` sees."""
def as_tensor(
    data: Any,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
) -> Tensor:
    """Make a tensor of `data`, sharing its memory where that is possible."""
def atleast_1d(*tensors: Any) -> Any:
    """Return the tensor(s) with at least one dimension."""
def atleast_2d(*tensors: Any) -> Any:
    """Return the tensor(s) with at least two dimensions."""
def atleast_3d(*tensors: Any) -> Any:
    """Return the tensor(s) with at least three dimensions."""
def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = ...,
    bias: Tensor | None = ...,
    training: builtins.bool = ...,
    momentum: builtins.float = ...,
    eps: builtins.float = ...,
) -> Tensor:
    """Return each channel less its mean, over its standard deviation."""
def bernoulli(
    input: Tensor,
    p: builtins.float | None = ...,
    *,
    generator: Generator | None = ...,
) -> Tensor:
    """Return zeros and ones in the shape and dtype of `input`."""
def bilinear(
    input1: Tensor,
    input2: Tensor,
    weight: Tensor,
    bias: Tensor | None = ...,
) -> Tensor:
    """Return ``input1 @ weight[i] @ input2`` for each output i, plus the bias."""
def bincount(
    input: Tensor,
    weights: Tensor | None = ...,
    minlength: builtins.int = ...,
) -> Tensor:
    """Return how often each number from 0 on occurs, or the sums of weights."""
def binomial(count: Tensor, prob: Tensor, generator: Generator | None = ...) -> Tensor:
    """Return how many of `count` trials succeed, each with probability `prob`."""
def block_diag(*tensors: Any) -> Tensor:
    """Return a matrix with the given ones along its diagonal, zeros elsewhere."""
def broadcast_shapes(*shapes: Any) -> Size:
    """Return the common shape of `shapes` under broadcasting."""
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Return the tensors expanded to their common shape."""
def broadcast_to(input: Tensor, size: Sequence[builtins.int]) -> Tensor:
    """Return `input` expanded to `size`."""
def bucketize(
    input: Any,
    boundaries: Tensor,
    *,
    out_int32: builtins.bool = ...,
    right: builtins.bool = ...,
) -> Tensor:
    """Return which of the intervals between `boundaries` each value is in."""
def can_cast(from_: DType, to: DType) -> builtins.bool:
    """Return whether a result of dtype `from_` may be stored in place as `to`."""
def cartesian_prod(*tensors: Tensor) -> Tensor:
    """Return all combinations of elements, one of each vector, as rows."""
def cat(tensors: Any, dim: builtins.int = ..., *, out: Tensor | None = ...) -> Tensor:
    """Return the tensors one after the other along a dimension."""
def cdist(
    x1: Tensor,
    x2: Tensor,
    p: builtins.float = ...,
    compute_mode: str | None = ...,
) -> Tensor:
    """Return the distances of each row of `x1` from each row of `x2`."""
def celu(
    input: Any,
    alpha: builtins.float = ...,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``max(0, x) + min(0, alpha * (exp(x / alpha) - 1))``."""
def chain_matmul(*matrices: Any) -> Tensor:
    """Return the product of several matrices."""
def cholesky(input: Tensor, upper: builtins.bool = ...) -> Tensor:
    """Return the triangular factor of Hermitian positive definite matrices."""
def cholesky_inverse(L: Tensor, upper: builtins.bool = ...) -> Tensor:
    """Return the inverse of ``L @ L.mH`` (``L.mH @ L`` if `upper`)."""
def cholesky_solve(input: Tensor, L: Tensor, upper: builtins.bool = ...) -> Tensor:
    """Return X with ``L @ L.mH @ X == input`` (``L.mH @ L`` if `upper`)."""
def chunk(input: Tensor, chunks: builtins.int, dim: builtins.int = ...) -> Any:
    """Return at most `chunks` parts of equal size (the last smaller), as views."""
def clamp(
    input: Any,
    min: Any = ...,
    max: Any = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Bring each element between two bounds, of which the upper one prevails."""
def clip(
    input: Any,
    min: Any = ...,
    max: Any = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Bring each element between two bounds, of which the upper one prevails."""
def clone(
    input: Tensor,
    *,
    memory_format: MemoryFormat | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return a copy, through which gradients flow."""
def column_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors side by side, vectors as columns."""
def combinations(
    input: Tensor,
    r: builtins.int = ...,
    with_replacement: builtins.bool = ...,
) -> Tensor:
    """Return the combinations of `r` elements of a vector, one in each row."""
def concat(
    tensors: Any,
    dim: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return the tensors one after the other along a dimension."""
def concatenate(
    tensors: Any,
    dim: builtins.int = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return the tensors one after the other along a dimension."""
def conj(input: Tensor) -> Tensor:
    """Return the complex conjugate of a complex tensor, or a real tensor itself."""
def conj_physical(input: Tensor) -> Tensor:
    """Return the complex conjugate, always in new memory."""
def contiguous(input: Tensor, memory_format: MemoryFormat = ...) -> Tensor:
    """Return `input` itself if its elements lie in the order asked for, else a copy."""
def corrcoef(input: Tensor) -> Tensor:
    """Return the correlations of the rows, which are variables."""
def cov(
    input: Tensor,
    *,
    correction: builtins.int = ...,
    fweights: Tensor | None = ...,
    aweights: Tensor | None = ...,
) -> Tensor:
    """Return the covariances of the rows, which are variables."""
def cross(input: Tensor, other: Tensor, dim: builtins.int | None = ...) -> Tensor:
    """Return the cross products of vectors of 3 elements along `dim`."""
def cummax(input: Tensor, dim: builtins.int) -> ValuesIndices:
    """Return the running maximum along `dim`, and where it is."""
def cummin(input: Tensor, dim: builtins.int) -> ValuesIndices:
    """Return the running minimum along `dim`, and where it is; see `cummax`."""
def cumulative_trapezoid(
    y: Tensor,
    x: Tensor | None = ...,
    *,
    dx: Any = ...,
    dim: builtins.int = ...,
) -> Tensor:
    """Return the running integral along `dim` by the trapezoidal rule."""
def deg2rad(input: Any, *, out: Tensor | None = ...) -> Tensor:
    """Return angles given in degrees in radians."""
def det(input: Tensor) -> Tensor:
    """Return the determinant of each square matrix."""
def detach(input: Tensor) -> Tensor:
    """Return a tensor over the same memory and version, without gradient."""
def diag(input: Tensor, diagonal: builtins.int = ...) -> Tensor:
    """Return the matrix with a vector on its diagonal, or the diagonal of a matrix."""
def diagflat(input: Tensor, offset: builtins.int = ...) -> Tensor:
    """Return a matrix with the elements of `input`, in order, on a diagonal."""
def diagonal_scatter(
    input: Tensor,
    src: Tensor,
    offset: builtins.int = ...,
    dim1: builtins.int = ...,
    dim2: builtins.int = ...,
) -> Tensor:
    """Return a copy of `input` with `src` on a diagonal."""
def diff(
    input: Tensor,
    n: builtins.int = ...,
    dim: builtins.int = ...,
    prepend: Tensor | None = ...,
    append: Tensor | None = ...,
) -> Tensor:
    """Return the differences of neighbours along `dim`, `n` times; of bools, "xor"."""
def dist(input: Tensor, other: Tensor, p: builtins.float = ...) -> Tensor:
    """Return the norm of the difference of two tensors."""
def div(
    input: Any,
    other: Any,
    *,
    rounding_mode: str | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``input / other``, rounded if asked."""
def divide(
    input: Any,
    other: Any,
    *,
    rounding_mode: str | None = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``input / other``, rounded if asked."""
def dropout(
    input: Tensor,
    p: builtins.float = ...,
    training: builtins.bool = ...,
    inplace: builtins.bool = ...,
) -> Tensor:
    """Return `input` with elements set to zero at random and the others scaled."""
def dropout1d(
    input: Tensor,
    p: builtins.float = ...,
    training: builtins.bool = ...,
    inplace: builtins.bool = ...,
) -> Tensor:
    """Return `input` with whole channels of shape (length,) set to zero at random."""
def dropout2d(
    input: Tensor,
    p: builtins.float = ...,
    training: builtins.bool = ...,
    inplace: builtins.bool = ...,
) -> Tensor:
    """Return `input` with whole channels set to zero at random."""
def dropout3d(
    input: Tensor,
    p: builtins.float = ...,
    training: builtins.bool = ...,
    inplace: builtins.bool = ...,
) -> Tensor:
    """Return `input` with whole channels of three dimensions set to zero at random."""
def dsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Return parts of `input`, as `tensor_split` does (d)."""
def dstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors one behind the other, along dimension 2."""
def einsum(equation: Any, *operands: Any) -> Tensor:
    """Return the sum of products that an equation of labels describes."""
def elu(
    input: Any,
    alpha: builtins.float = ...,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element, or ``alpha * (exp(x) - 1)`` where it is not positive."""
def empty(
    *sizes: Any,
    size: Sequence[builtins.int] | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor whose elements are not set; see `zeros` for the parameters."""
def empty_like(
    input: Tensor,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor that is not set, with the shape, dtype and device of `input`."""
def equal(input: Tensor, other: Tensor) -> builtins.bool:
    """Return whether two tensors have one shape and equal elements."""
def expand_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` expanded to the shape of `other`."""
def eye(
    n: builtins.int,
    m: builtins.int | None = ...,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make an `n` by `m` (or `n`) matrix with ones on the diagonal."""
def feature_dropout(
    input: Tensor,
    p: builtins.float,
    training: builtins.bool,
) -> Tensor:
    """Return `input` with whole channels set to zero; of any number of dimensions."""
def fix(input: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Integer part of each element."""
def flatten(
    input: Tensor,
    start_dim: builtins.int = ...,
    end_dim: builtins.int = ...,
) -> Tensor:
    """Return the dimensions from `start_dim` to `end_dim` joined into one."""
def fliplr(input: Tensor) -> Tensor:
    """Return columns in the opposite order (dimension 1)."""
def flipud(input: Tensor) -> Tensor:
    """Return rows in the opposite order (dimension 0)."""
def frexp(input: Tensor) -> Frexp:
    """Return mantissas in [1/2, 1) and exponents: ``mantissa * 2**exponent``."""
def from_dlpack(
    ext_tensor: Any,
    *,
    device: Any = ...,
    copy: builtins.bool | None = ...,
) -> Any:
    """Make a tensor that shares the memory of another library's."""
def from_numpy(array: Any) -> Tensor:
    """Make a tensor that shares the memory of `array`."""
def full(
    size: Any,
    fill_value: Any,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of one number."""
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor of one number with the shape, dtype and device of `input`."""
def gather(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    *,
    sparse_grad: builtins.bool = ...,
) -> Tensor:
    """Return the elements at `index` along `dim`, in the shape of `index`."""
def gelu(input: Any, approximate: str = ..., *, out: Tensor | None = ...) -> Tensor:
    """Return each element times the normal distribution's probability below it."""
def ger(input: Tensor, vec2: Tensor) -> Tensor:
    """Return `outer`, under its name in BLAS."""
def get_default_device() -> Any:
    """Return the device where new tensors are made: the CPU."""
def get_num_interop_threads() -> builtins.int:
    """Return 1: operators run one after the other."""
def get_num_threads() -> builtins.int:
    """Return how many threads NumPy's BLAS may use: one per core it sees."""
def get_rng_state() -> Tensor:
    """Return the default generator's state as a tensor of bytes."""
def gradient(
    input: Tensor,
    *,
    spacing: Any = ...,
    dim: Any = ...,
    edge_order: builtins.int = ...,
) -> tuple[Tensor, ...]:
    """Return estimated derivatives of a sampled function, one for each dimension."""
def greater(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether `input` is greater than `other`, element by element."""
def greater_equal(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether `input` is greater than or equal to `other`, element by element."""
def hardsigmoid(
    input: Any,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return the straight line from 0 at -3 to 1 at 3, level outside."""
def hardswish(
    input: Any,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element times its hard sigmoid."""
def hardtanh(
    input: Any,
    min_val: builtins.float = ...,
    max_val: builtins.float = ...,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element brought between two bounds; the derivative there is 0."""
def hsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Return parts of `input`, as `tensor_split` does (h)."""
def hstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors side by side: along dimension 1, of vectors along 0."""
def imag(input: Tensor) -> Tensor:
    """Return the imaginary part of a complex tensor."""
def index_add(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
    *,
    alpha: Any = ...,
) -> Tensor:
    """Return `input` with `alpha` times `source` added at `index` along `dim`."""
def index_copy(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    source: Tensor,
) -> Tensor:
    """Return `input` with `source` put at `index` along `dim`."""
def index_fill(input: Tensor, dim: builtins.int, index: Tensor, value: Any) -> Tensor:
    """Return `input` with a number put at `index` along `dim`."""
def index_put(
    input: Tensor,
    indices: Sequence[Tensor],
    values: Tensor,
    accumulate: builtins.bool = ...,
) -> Tensor:
    """Return `input` with the elements at `indices` replaced by `values`."""
def index_select(input: Tensor, dim: builtins.int, index: Tensor) -> Tensor:
    """Return the places `index` along `dim`, a copy."""
def initial_seed() -> builtins.int:
    """Return the seed that the default generator was started from."""
def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = ...,
    running_var: Tensor | None = ...,
    weight: Tensor | None = ...,
    bias: Tensor | None = ...,
    use_input_stats: builtins.bool = ...,
    momentum: builtins.float = ...,
    eps: builtins.float = ...,
) -> Tensor:
    """Return each channel of each example less its mean, over its standard deviation."""
def inverse(input: Tensor) -> Tensor:
    """Return the inverse of each square matrix."""
def is_complex(input: Tensor) -> builtins.bool:
    """Return whether the dtype is complex."""
def is_conj(input: Tensor) -> builtins.bool:
    """Return whether a tensor is to be conjugated later: never, here."""
def is_floating_point(input: Tensor) -> builtins.bool:
    """Return whether the dtype is a real floating type."""
def is_neg(input: Tensor) -> builtins.bool:
    """Return whether a tensor is to be negated later: never, here."""
def is_nonzero(input: Tensor) -> builtins.bool:
    """Return whether the only element is not zero."""
def is_tensor(obj: Any, /) -> builtins.bool:
    """Return whether `obj` is a Tensor."""
def kthvalue(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = ...,
    keepdim: builtins.bool = ...,
) -> ValuesIndices:
    """Return the `k`-th smallest element along `dim` (from 1), and where it is."""
def leaky_relu(
    input: Any,
    negative_slope: builtins.float = ...,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element, times `negative_slope` where it is not positive."""
def less(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether `input` is less than `other`, element by element."""
def less_equal(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether `input` is less than or equal to `other`, element by element."""
def linspace(
    start: Any,
    end: Any,
    steps: builtins.int,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make `steps` numbers at equal distances from `start` to `end`, both included."""
def logdet(input: Tensor) -> Tensor:
    """Return the logarithm of each determinant: -inf where it is 0, nan below."""
def logit(
    input: Any,
    eps: builtins.float | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return log(x / (1 - x)), the inverse of the logistic function."""
def logspace(
    start: Any,
    end: Any,
    steps: builtins.int,
    base: builtins.float = ...,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make `steps` powers of `base` with exponents from `start` to `end`."""
def lu(self: Tensor, pivot: builtins.bool = ..., get_infos: builtins.bool = ...) -> Any:
    """Return packed factors and exchanges, with `get_infos` the first 0 pivots too."""
def lu_solve(b: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Tensor:
    """Return the solution X of ``A @ X == b`` by packed factors of A."""
def lu_unpack(
    LU_data: Tensor,
    LU_pivots: Tensor,
    unpack_data: builtins.bool = ...,
    unpack_pivots: builtins.bool = ...,
) -> Factors:
    """Return P, L and U of packed factors."""
def manual_seed(seed: builtins.int) -> Generator:
    """Restart the default generators' streams from `seed`; return the CPU's."""
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Return `input` with a number where `mask` holds, in the dtype of `input`."""
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Return `input` with the elements of `source`, in order, where `mask` holds."""
def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Return the elements where `mask` holds, as a vector."""
def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Return the matrix product, by PyTorch's rules for vectors and batches."""
def matrix_power(input: Tensor, n: builtins.int) -> Tensor:
    """Return each square matrix to the power `n`; negative ones of the inverse."""
def max(
    input: Tensor,
    dim: Any = ...,
    keepdim: builtins.bool = ...,
    *,
    other: Any = ...,
) -> Any:
    """Return the largest element: of all, along a dimension, or of two tensors."""
def median(
    input: Tensor,
    dim: builtins.int | None = ...,
    keepdim: builtins.bool = ...,
) -> Any:
    """Return the lower middle of the elements in order; NaN if there is one."""
def meshgrid(*tensors: Any, indexing: str = ...) -> tuple[Tensor, ...]:
    """Return the coordinates of a grid, one tensor for each dimension."""
def min(
    input: Tensor,
    dim: Any = ...,
    keepdim: builtins.bool = ...,
    *,
    other: Any = ...,
) -> Any:
    """Return the smallest element: of all, along a dimension, or of two tensors."""
def mish(
    input: Any,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element times the hyperbolic tangent of its softplus."""
def mode(
    input: Tensor,
    dim: builtins.int = ...,
    keepdim: builtins.bool = ...,
) -> ValuesIndices:
    """Return the most frequent element along `dim`, and its last place."""
def moveaxis(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Return dimensions moved to other places, the others in their order."""
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """Return dimensions moved to other places, the others in their order."""
def msort(input: Tensor) -> Tensor:
    """Return the elements in order along the first dimension."""
def multinomial(
    input: Tensor,
    num_samples: builtins.int,
    replacement: builtins.bool = ...,
    *,
    generator: Generator | None = ...,
) -> Tensor:
    """Return places drawn by weight, of each row."""
def multiply(input: Any, other: Any, *, out: Tensor | None = ...) -> Tensor:
    """Return ``input * other``."""
def mvlgamma(input: Tensor, p: builtins.int) -> Tensor:
    """Return the logarithm of the multivariate gamma function of dimension `p`."""
def nan_to_num(
    input: Any,
    nan: builtins.float | None = ...,
    posinf: builtins.float | None = ...,
    neginf: builtins.float | None = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Replace NaN and the infinities."""
def nanmedian(
    input: Tensor,
    dim: builtins.int | None = ...,
    keepdim: builtins.bool = ...,
) -> Any:
    """Return the lower middle of the elements that are not NaN; see `median`."""
def nanquantile(
    input: Tensor,
    q: Any,
    dim: builtins.int | None = ...,
    keepdim: builtins.bool = ...,
    *,
    interpolation: str = ...,
) -> Tensor:
    """Return the quantiles of the elements that are not NaN; see `quantile`."""
def narrow(
    input: Tensor,
    dim: builtins.int,
    start: Any,
    length: builtins.int,
) -> Tensor:
    """Return `length` places from `start` along a dimension, as a view."""
def narrow_copy(
    input: Tensor,
    dim: builtins.int,
    start: builtins.int,
    length: builtins.int,
) -> Tensor:
    """Return a copy of `length` places along `dim`, from `start` on."""
def negative(input: Any, *, out: Tensor | None = ...) -> Tensor:
    """Return ``-input``."""
def nonzero(input: Tensor, *, as_tuple: builtins.bool = ...) -> Any:
    """Return the indices of the elements that are not 0."""
def norm(
    input: Tensor,
    p: Any = ...,
    dim: Any = ...,
    keepdim: builtins.bool = ...,
    dtype: DType | None = ...,
) -> Tensor:
    """Return the norm of the elements over dimensions."""
def normal(
    mean: Any,
    std: Any = ...,
    size: Any = ...,
    *,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of normal draws with given means and standard deviations."""
def not_equal(input: Tensor, other: Tensor, *, out: Tensor | None = ...) -> Tensor:
    """Whether two tensors differ, element by element."""
def numel(input: Tensor) -> builtins.int:
    """Return the number of elements."""
def ones(
    *sizes: Any,
    size: Sequence[builtins.int] | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of ones; see `zeros` for the parameters."""
def ones_like(
    input: Tensor,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor of ones with the shape, dtype and device of `input`."""
def pinverse(input: Tensor, rcond: builtins.float = ...) -> Tensor:
    """Return the pseudoinverse; singular values below `rcond` times the first are 0."""
def poisson(input: Tensor, generator: Generator | None = ...) -> Tensor:
    """Return a Poisson draw for each rate."""
def polygamma(n: builtins.int, input: Tensor) -> Tensor:
    """Return derivative number `n` of `digamma`."""
def positive(input: Tensor) -> Tensor:
    """Return `input` itself, as ``+input`` does."""
def pow(input: Any, exponent: Any, *, out: Tensor | None = ...) -> Tensor:
    """Return ``input ** exponent``."""
def qr(input: Tensor, some: builtins.bool = ...) -> QR:
    """Return orthonormal columns Q and an upper triangle R of ``Q @ R``."""
def quantile(
    input: Tensor,
    q: Any,
    dim: builtins.int | None = ...,
    keepdim: builtins.bool = ...,
    *,
    interpolation: str = ...,
) -> Tensor:
    """Return the `q`-th quantiles of all elements, or along a dimension."""
def rad2deg(input: Any, *, out: Tensor | None = ...) -> Tensor:
    """Return angles given in radians in degrees."""
def rand(
    *size: Any,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of uniform draws from [0, 1)."""
def rand_like(
    input: Tensor,
    *,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor of uniform draws from [0, 1) in the shape of `input`."""
def randint(
    low: builtins.int,
    high: Any = ...,
    size: Any = ...,
    *,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of integers drawn from [low, high)."""
def randint_like(
    input: Tensor,
    low: builtins.int,
    high: builtins.int | None = ...,
    *,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor of integers from [low, high) in the shape and dtype of `input`."""
def randn(
    *size: Any,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of draws from the standard normal distribution; see `rand`."""
def randn_like(
    input: Tensor,
    *,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor of standard normal draws in the shape of `input`."""
def randperm(
    n: builtins.int,
    *,
    generator: Generator | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of the numbers below `n` in random order, in int64."""
def ravel(input: Tensor) -> Tensor:
    """Return the elements in one dimension."""
def real(input: Tensor) -> Tensor:
    """Return the real part of a complex tensor, or a real tensor itself."""
def relu(
    input: Any,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element, or 0 where it is negative."""
def relu6(
    input: Any,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element brought between 0 and 6."""
def repeat_interleave(
    input: Tensor,
    repeats: Any = ...,
    dim: builtins.int | None = ...,
    *,
    output_size: builtins.int | None = ...,
) -> Tensor:
    """Return each place along `dim` (or each element) repeated, a copy."""
def reshape(input: Tensor, *shape: Any) -> Tensor:
    """Return the elements in another shape: a view where possible, else a copy."""
def reshape_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` in the shape of `other`."""
def resolve_conj(input: Tensor) -> Tensor:
    """Return the tensor itself: nothing is conjugated lazily."""
def resolve_neg(input: Tensor) -> Tensor:
    """Return the tensor itself: nothing is negated lazily."""
def result_type(tensor: Any, other: Any, /) -> DType:
    """Return the dtype of an arithmetic result of two tensors or numbers."""
def rot90(
    input: Tensor,
    k: builtins.int = ...,
    dims: Sequence[builtins.int] = ...,
) -> Tensor:
    """Return `input` turned `k` times by 90 degrees, from the first dim to the second."""
def round(
    input: Any,
    *,
    decimals: builtins.int = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Round to a number of decimals, half to even."""
def row_stack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors, as rows at least, one below the other."""
def rsub(
    input: Any,
    other: Any,
    *,
    alpha: Any = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``other - alpha * input``."""
def scalar_tensor(
    s: Any,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor without dimensions, of the default floating dtype."""
def scatter(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    src: Any = ...,
    *,
    value: Any = ...,
    reduce: str | None = ...,
) -> Tensor:
    """Return `input` with the elements at `index` along `dim` replaced."""
def scatter_add(input: Tensor, dim: builtins.int, index: Tensor, src: Tensor) -> Tensor:
    """Return `input` with the elements of `src` added at `index` along `dim`."""
def scatter_reduce(
    input: Tensor,
    dim: builtins.int,
    index: Tensor,
    src: Tensor,
    reduce: str,
    *,
    include_self: builtins.bool = ...,
) -> Tensor:
    """Return `input` with `src` joined in at `index` along `dim`."""
def searchsorted(
    sorted_sequence: Tensor,
    input: Any,
    *,
    out_int32: builtins.bool = ...,
    right: builtins.bool = ...,
    side: str | None = ...,
    sorter: Tensor | None = ...,
) -> Tensor:
    """Return where values would be put into sorted sequences."""
def seed() -> builtins.int:
    """Restart the default generator from an unpredictable seed and return that."""
def select_scatter(
    input: Tensor,
    src: Tensor,
    dim: builtins.int,
    index: builtins.int,
) -> Tensor:
    """Return a copy of `input` with `src` at one place along `dim`."""
def selu(
    input: Any,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return the scaled exponential unit, which keeps mean 0 and variance 1."""
def set_default_device(device: Any) -> None:
    """Accept the CPU, where new tensors are made; name other devices at each call."""
def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype by the old name of a tensor type."""
def set_num_interop_threads(int: builtins.int) -> None:
    """Do nothing: operators run one after the other."""
def set_num_threads(int: builtins.int) -> None:
    """Accept a number of threads."""
def set_rng_state(new_state: Any) -> None:
    """Continue the default generator from a state of `get_rng_state`, or PyTorch's."""
def silu(
    input: Any,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element times its logistic function."""
def slice_scatter(
    input: Tensor,
    src: Tensor,
    dim: builtins.int = ...,
    start: builtins.int | None = ...,
    end: builtins.int | None = ...,
    step: builtins.int = ...,
) -> Tensor:
    """Return a copy of `input` with `src` in a slice of `dim`."""
def slogdet(input: Tensor) -> SignLogDet:
    """Return sign and logarithm of the size of each determinant."""
def softplus(
    input: Any,
    beta: builtins.float = ...,
    threshold: builtins.float = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return log(1 + exp(beta x)) / beta, and x where beta x is above `threshold`."""
def sort(
    input: Tensor,
    dim: builtins.int = ...,
    descending: builtins.bool = ...,
    stable: builtins.bool = ...,
) -> ValuesIndices:
    """Return the elements in order along `dim`, and where they were."""
def split(tensor: Tensor, split_size_or_sections: Any, dim: builtins.int = ...) -> Any:
    """Return parts along a dimension, as views."""
def std(
    input: Tensor,
    dim: Any = ...,
    unbiased: builtins.bool | None = ...,
    keepdim: builtins.bool = ...,
    *,
    correction: builtins.float | None = ...,
) -> Tensor:
    """Return the standard deviation over dimensions; see `var` for the parameters."""
def std_mean(
    input: Tensor,
    dim: Any = ...,
    unbiased: builtins.bool | None = ...,
    keepdim: builtins.bool = ...,
    *,
    correction: builtins.float | None = ...,
) -> tuple[Tensor, Tensor]:
    """Return the standard deviation and the mean; see `var` for the parameters."""
def sub(
    input: Any,
    other: Any,
    *,
    alpha: Any = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``input - alpha * other``."""
def subtract(
    input: Any,
    other: Any,
    *,
    alpha: Any = ...,
    out: Tensor | None = ...,
) -> Tensor:
    """Return ``input - alpha * other``."""
def svd(
    input: Tensor,
    some: builtins.bool = ...,
    compute_uv: builtins.bool = ...,
) -> OldSVD:
    """Return U, S and V with ``input == U @ diag(S) @ V.mH``."""
def swapaxes(input: Tensor, axis0: builtins.int, axis1: builtins.int) -> Tensor:
    """Return two dimensions exchanged, as `transpose` does."""
def swapdims(input: Tensor, axis0: builtins.int, axis1: builtins.int) -> Tensor:
    """Return two dimensions exchanged, as `transpose` does."""
def t(input: Tensor) -> Tensor:
    """Return a matrix transposed; vectors and numbers as they are."""
def take_along_dim(
    input: Tensor,
    indices: Tensor,
    dim: builtins.int | None = ...,
) -> Tensor:
    """Return the elements at `indices` along `dim`, the other dimensions broadcast."""
def tensor(
    data: Any,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
) -> Tensor:
    """Make a tensor that holds a copy of `data`."""
def tensor_split(
    input: Tensor,
    indices_or_sections: Any,
    dim: builtins.int = ...,
) -> Any:
    """Return exactly so many parts of nearly equal size, or parts between indices."""
def tensordot(a: Tensor, b: Tensor, dims: Any = ...) -> Tensor:
    """Return the sums of products over several dimensions of two tensors."""
def threshold(
    input: Any,
    threshold: builtins.float,
    value: builtins.float,
    inplace: builtins.bool = ...,
    *,
    out: Tensor | None = ...,
) -> Tensor:
    """Return each element, or `value` where it is not above `threshold`."""
def tile(input: Tensor, *dims: Any) -> Tensor:
    """Return `input` laid several times along the last dimensions."""
def topk(
    input: Tensor,
    k: builtins.int,
    dim: builtins.int = ...,
    largest: builtins.bool = ...,
    sorted: builtins.bool = ...,
) -> ValuesIndices:
    """Return the `k` largest (smallest) elements along `dim`, and where they were."""
def trapezoid(
    y: Tensor,
    x: Tensor | None = ...,
    *,
    dx: Any = ...,
    dim: builtins.int = ...,
) -> Tensor:
    """Return the integral along `dim` by the trapezoidal rule."""
def trapz(
    y: Tensor,
    x: Tensor | None = ...,
    *,
    dx: Any = ...,
    dim: builtins.int = ...,
) -> Tensor:
    """Return the integral along `dim` by the trapezoidal rule."""
def triangular_solve(
    input: Tensor,
    A: Tensor,
    upper: builtins.bool = ...,
    transpose: builtins.bool = ...,
    unitriangular: builtins.bool = ...,
) -> TriangularSolution:
    """Return X with ``A @ X == input`` for one triangle of A, and a copy of A."""
def tril_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = ...,
    *,
    dtype: DType = ...,
    device: Device | str | None = ...,
) -> Tensor:
    """Make the row and column indices of the lower triangle, shape (2, n)."""
def triu_indices(
    row: builtins.int,
    col: builtins.int,
    offset: builtins.int = ...,
    *,
    dtype: DType = ...,
    device: Device | str | None = ...,
) -> Tensor:
    """Make the row and column indices of the upper triangle, shape (2, n)."""
def true_divide(input: Any, other: Any, *, out: Tensor | None = ...) -> Tensor:
    """Return ``input / other``, floating also for integers."""
def typename(obj: Any, /) -> str:
    """Return the name of an object's type, for tensors with their dtype."""
def unflatten(input: Tensor, dim: builtins.int, sizes: Any) -> Tensor:
    """Return dimension `dim` split into `sizes`, of which one may be -1."""
def unique(
    input: Tensor,
    sorted: builtins.bool = ...,
    return_inverse: builtins.bool = ...,
    return_counts: builtins.bool = ...,
    dim: builtins.int | None = ...,
) -> Any:
    """Return the distinct elements, in order."""
def unique_consecutive(
    input: Tensor,
    return_inverse: builtins.bool = ...,
    return_counts: builtins.bool = ...,
    dim: builtins.int | None = ...,
) -> Any:
    """Return one element of each run of equal ones; see `unique`."""
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Return the coordinates of places in a row-major tensor of a shape."""
def var(
    input: Tensor,
    dim: Any = ...,
    unbiased: builtins.bool | None = ...,
    keepdim: builtins.bool = ...,
    *,
    correction: builtins.float | None = ...,
) -> Tensor:
    """Return the variance over dimensions."""
def var_mean(
    input: Tensor,
    dim: Any = ...,
    unbiased: builtins.bool | None = ...,
    keepdim: builtins.bool = ...,
    *,
    correction: builtins.float | None = ...,
) -> tuple[Tensor, Tensor]:
    """Return the variance and the mean; see `var` for the parameters."""
def view_as(input: Tensor, other: Tensor) -> Tensor:
    """Return `input` as a view of the shape of `other`."""
def vsplit(input: Tensor, indices_or_sections: Any) -> Any:
    """Return parts of `input`, as `tensor_split` does (v)."""
def vstack(tensors: Sequence[Tensor]) -> Tensor:
    """Return the tensors, as rows at least, one below the other."""
def where(condition: Any, input: Any = ..., other: Any = ..., *, out: Any = ...) -> Any:
    """Return elements of `input` where the condition holds, of `other` elsewhere."""
def zeros(
    *sizes: Any,
    size: Sequence[builtins.int] | None = ...,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
) -> Tensor:
    """Make a tensor of zeros."""
def zeros_like(
    input: Tensor,
    *,
    dtype: DType | None = ...,
    device: Device | str | None = ...,
    requires_grad: builtins.bool = ...,
    layout: Any = ...,
    pin_memory: builtins.bool = ...,
    memory_format: Any = ...,
) -> Tensor:
    """Make a tensor of zeros with the shape, dtype and device of `input`."""
