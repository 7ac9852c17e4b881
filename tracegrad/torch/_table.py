"""PyTorch's module paths, and where tracegrad has the names of each. Data only.

A name of ``torch.<path>`` is looked up in the modules listed for the path, in order;
a module that is not there is passed over. A name that stands in none of them is absent.
"""

from __future__ import annotations

_NN = ("tracegrad.nn", "tracegrad.torch._parallel")
_OPTIM = ("tracegrad.optim",)
_DATA = ("tracegrad.data",)
_AMP = ("tracegrad.amp",)
_DISTRIBUTIONS = ("tracegrad.distributions",)
_FX = ("tracegrad.torch._fx",)
_NN_UTILS = ("tracegrad.nn.utils",)
_AUTOGRAD = ("tracegrad.autograd", "tracegrad.torch._autograd")

MODULES: dict[str, tuple[str, ...]] = {
    "": ("tracegrad.torch._root", "tracegrad"),
    "accelerator": ("tracegrad.accelerator",),
    "amp": _AMP,
    "autograd": _AUTOGRAD,
    "autograd.forward_ad": ("tracegrad.autograd.forward_ad",),
    "autograd.function": _AUTOGRAD,
    "autograd.functional": ("tracegrad.autograd.functional",),
    "autograd.grad_mode": _AUTOGRAD,
    "autograd.gradcheck": _AUTOGRAD,
    "autograd.graph": _AUTOGRAD,
    "autograd.profiler": ("tracegrad.profiler",),
    "autograd.variable": _AUTOGRAD,
    "backends": (),
    "backends.cpu": ("tracegrad.torch._backends.cpu",),
    "backends.cuda": ("tracegrad.torch._backends.cuda",),
    "backends.cuda.matmul": ("tracegrad.torch._backends.switches",),
    "backends.cudnn": ("tracegrad.torch._backends.cudnn",),
    "backends.mkl": ("tracegrad.torch._backends.absent",),
    "backends.mkldnn": ("tracegrad.torch._backends.absent",),
    "backends.mps": ("tracegrad.torch._backends.absent",),
    "backends.openmp": ("tracegrad.torch._backends.absent",),
    "backends.opt_einsum": ("tracegrad.torch._backends.absent",),
    "compiler": ("tracegrad.torch._compiler",),
    "cpu": ("tracegrad.torch._backends.cpu",),
    "cpu.amp": ("tracegrad.torch._cpu_amp",),
    "cuda": ("tracegrad.cuda",),
    "cuda.amp": ("tracegrad.torch._cuda_amp",),
    "cuda.amp.autocast_mode": ("tracegrad.torch._cuda_amp",),
    "cuda.amp.grad_scaler": ("tracegrad.torch._cuda_amp",),
    "cuda.random": ("tracegrad.cuda",),
    "distributed": ("tracegrad.torch._distributed",),
    "distributions": _DISTRIBUTIONS,
    "fft": ("tracegrad.fft",),
    "func": ("tracegrad.func",),
    "fx": _FX,
    "fx.graph": _FX,
    "fx.graph_module": _FX,
    "fx.interpreter": _FX,
    "fx.node": _FX,
    "fx.proxy": _FX,
    "hub": (),
    "jit": ("tracegrad.torch._jit",),
    "library": ("tracegrad.library",),
    "linalg": ("tracegrad.linalg",),
    "mps": ("tracegrad.torch._backends.mps",),
    "multiprocessing": ("tracegrad.multiprocessing", "multiprocessing"),
    "nested": (),
    "nn": _NN,
    "nn.attention": ("tracegrad.nn.attention",),
    "nn.functional": ("tracegrad.nn.functional",),
    "nn.init": ("tracegrad.nn.init",),
    "nn.modules": _NN,
    "nn.parallel": ("tracegrad.torch._parallel",),
    "nn.parameter": ("tracegrad.nn.parameter", "tracegrad.nn"),
    "nn.utils": _NN_UTILS,
    "nn.utils.clip_grad": _NN_UTILS,
    "nn.utils.convert_parameters": _NN_UTILS,
    "nn.utils.fusion": _NN_UTILS,
    "nn.utils.parametrizations": ("tracegrad.nn.utils.parametrizations",),
    "nn.utils.parametrize": ("tracegrad.nn.utils.parametrize",),
    "nn.utils.rnn": ("tracegrad.nn.utils.rnn",),
    "nn.utils.spectral_norm": _NN_UTILS,
    "nn.utils.stateless": ("tracegrad.func",),
    "nn.utils.weight_norm": _NN_UTILS,
    "onnx": (),
    "optim": _OPTIM,
    "optim.lr_scheduler": ("tracegrad.optim.lr_scheduler",),
    "optim.swa_utils": ("tracegrad.optim.swa_utils",),
    "profiler": ("tracegrad.profiler",),
    "quantization": (),
    "random": ("tracegrad.torch._root", "tracegrad"),
    "serialization": ("tracegrad.serialization",),
    "sparse": (),
    "special": ("tracegrad.special",),
    "testing": ("tracegrad.testing",),
    "types": ("tracegrad.torch._types",),
    "utils": ("tracegrad.utils",),
    "utils._pytree": ("tracegrad.torch._pytree",),
    "utils.checkpoint": ("tracegrad.utils.checkpoint",),
    "utils.data": _DATA,
    "utils.data.dataloader": _DATA,
    "utils.data.dataset": _DATA,
    "utils.data.distributed": _DATA,
    "utils.data.sampler": _DATA,
    "utils.dlpack": ("tracegrad.torch._dlpack",),
    "utils.tensorboard": ("tracegrad.utils.tensorboard",),
    "version": ("tracegrad.torch._version",),
}

_NN_MODULES = (
    "activation adaptive batchnorm channelshuffle container conv distance dropout "
    "flatten fold instancenorm lazy linear loss module normalization padding "
    "pixelshuffle pooling rnn sparse transformer upsampling utils"
)
_OPTIMIZERS = (
    "adadelta adagrad adam adamax adamw asgd lbfgs nadam optimizer radam rmsprop "
    "rprop sgd sparse_adam"
)
_DISTRIBUTION_MODULES = (
    "bernoulli beta binomial categorical cauchy chi2 constraints "
    "constraint_registry continuous_bernoulli dirichlet distribution exp_family "
    "exponential fishersnedecor gamma geometric gumbel half_cauchy half_normal "
    "independent kl kumaraswamy laplace lkj_cholesky log_normal logistic_normal "
    "lowrank_multivariate_normal mixture_same_family multinomial "
    "multivariate_normal negative_binomial normal one_hot_categorical pareto "
    "poisson relaxed_bernoulli relaxed_categorical studentT transformed_distribution "
    "transforms uniform utils von_mises weibull wishart"
)
# PyTorch has one file for each of these; here they are where their package's names are.
MODULES |= {
    f"nn.modules.{name}": (f"tracegrad.nn.modules.{name}", *_NN)
    for name in _NN_MODULES.split()
}
MODULES |= {f"optim.{name}": _OPTIM for name in _OPTIMIZERS.split()}
MODULES |= {
    f"distributions.{name}": (f"tracegrad.distributions.{name}", *_DISTRIBUTIONS)
    for name in _DISTRIBUTION_MODULES.split()
}
MODULES |= {
    f"nn.parallel.{name}": ("tracegrad.torch._parallel",)
    for name in ("data_parallel", "distributed", "parallel_apply", "scatter_gather")
}

# Whole modules that stay out.
REFUSED: dict[str, str] = {
    "hub": "it downloads no models and no code",
    "nested": "nested (jagged) tensors are left out; pad to one length instead",
    "onnx": "graphs are exported by tracegrad.export, where it is installed",
    "quantization": "quantised tensors are left out",
    "sparse": "sparse tensors are left out; use index_add, or a dense matrix",
}

# Single names that stay out, where a reason helps more than near names.
ABSENT: dict[str, str] = {
    "torch.jagged": REFUSED["nested"],
    "torch.sparse_coo_tensor": REFUSED["sparse"],
    "torch.sparse_csr_tensor": REFUSED["sparse"],
    "torch.sparse_coo": REFUSED["sparse"],
    "torch.sparse_csr": REFUSED["sparse"],
    "torch.spmm": REFUSED["sparse"],
    "torch.smm": REFUSED["sparse"],
    "torch.quantize_per_tensor": REFUSED["quantization"],
    "torch.classes": "classes of a C++ extension are left out",
    "torch.ops": "operators of PyTorch's C++ registry are left out; see torch.library",
    "torch._C": "PyTorch's C++ part is not here",
    "torch.nn.CTCLoss": "CTC is left out",
    "torch.nn.functional.ctc_loss": "CTC is left out",
}
