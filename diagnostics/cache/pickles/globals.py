"""The callables that a pickle of tensors may name: what rebuilds tensors, arrays and plain containers.

Naming a global makes an unpickler import its module, which runs code; so a name that is not here is
reported where it is named, called or not. The list follows what `torch.load(weights_only=True)` takes,
and numpy's own array rebuilding.
"""

from __future__ import annotations

from diagnostics.cache.storages import STORAGE_TYPES

_TORCH_REBUILDS = {
    "torch.Size",
    "torch.Tensor",
    "torch.device",
    "torch.nn.parameter.Parameter",
    "torch.nn.parameter.UninitializedParameter",
    "torch.serialization._get_layout",
    "torch.storage.TypedStorage",
    "torch.storage.UntypedStorage",
    "torch._tensor._rebuild_from_type_v2",
    "torch._utils._rebuild_device_tensor_from_cpu_tensor",
    "torch._utils._rebuild_device_tensor_from_numpy",
    "torch._utils._rebuild_meta_tensor_no_storage",
    "torch._utils._rebuild_nested_tensor",
    "torch._utils._rebuild_parameter",
    "torch._utils._rebuild_parameter_with_state",
    "torch._utils._rebuild_qtensor",
    "torch._utils._rebuild_sparse_tensor",
    "torch._utils._rebuild_tensor",
    "torch._utils._rebuild_tensor_v2",
    "torch._utils._rebuild_tensor_v3",
    "torch._utils._rebuild_wrapper_subclass",
    "torch._utils._rebuild_xla_tensor",
    "torch.per_channel_affine",
    "torch.per_channel_affine_float_qparams",
    "torch.per_channel_symmetric",
    "torch.per_tensor_affine",
    "torch.per_tensor_symmetric",
}
# Sharded tensors (FSDP2, tensor parallel): torch.distributed.tensor adds these to what `weights_only=True` takes.
_SHARDED = {
    "torch.distributed._mesh_layout._FlatLayout",
    "torch.distributed._mesh_layout._MeshLayout",
    "torch.distributed.device_mesh.DeviceMesh",
    *(f"torch.distributed.{place}.DTensor" for place in ("tensor", "tensor._api", "_tensor", "_tensor.api")),
    *(
        f"torch.distributed.{tensor}.{name}"
        for tensor in ("tensor", "_tensor")
        for name in (
            "_dtensor_spec.DTensorSpec",
            "_dtensor_spec.ShardOrderEntry",
            "_dtensor_spec.TensorMeta",
            "placement_types.DTensorSpec",
            "placement_types.Partial",
            "placement_types.Replicate",
            "placement_types.Shard",
            "placement_types.TensorMeta",
            "placement_types._Partial",
            "placement_types._StridedShard",
        )
    ),
}
_CONTAINERS = {
    f"{module}.{name}"
    for module in ("builtins", "__builtin__")
    for name in ("bytearray", "complex", "dict", "frozenset", "list", "set", "slice", "tuple")
} | {
    "_codecs.encode",
    "collections.Counter",
    "collections.OrderedDict",
    "copy_reg._reconstructor",
    "copyreg._reconstructor",
}
_ARRAYS = {
    "numpy.dtype",
    "numpy.ndarray",
    "numpy.core.numeric._frombuffer",
    "numpy._core.numeric._frombuffer",
    *(f"numpy.{core}.multiarray.{name}" for core in ("core", "_core") for name in ("_reconstruct", "scalar")),
}
_DTYPE_NAMES = (
    "bfloat16 bool complex32 complex64 complex128 float16 float32 float64 int8 int16 int32 int64 uint8 uint16 "
    "uint32 uint64 qint8 qint32 quint8 quint4x2 quint2x4 float8_e4m3fn float8_e4m3fnuz float8_e5m2 "
    "float8_e5m2fnuz float8_e8m0fnu float4_e2m1fn_x2 bits8 bits16 bits1x8 bits2x4 bits4x2"
)
_DTYPES = {f"torch.{name}" for name in _DTYPE_NAMES.split()} | {
    f"torch.{sign}int{bits}" for sign in ("", "u") for bits in range(1, 8)
}
_STORAGES = {f"torch.{place}{name}" for place in ("", "cuda.") for name in STORAGE_TYPES}
# Classes of tensors before torch 0.4, and of sparse ones.
_TENSORS = {
    f"torch.{place}{name.removesuffix('Storage')}Tensor"
    for place in ("", "cuda.", "sparse.", "cuda.sparse.")
    for name in STORAGE_TYPES
    if not name.startswith(("Q", "Complex", "Untyped"))
}

SAFE_GLOBALS = frozenset(_TORCH_REBUILDS | _SHARDED | _CONTAINERS | _ARRAYS | _DTYPES | _STORAGES | _TENSORS)

# Plain values of the standard library, numpy and torch: to build them runs nothing of the writer's, but
# `torch.load(weights_only=True)`, the default since torch 2.6, refuses a file that names one.
_VALUES = {
    "argparse": "Namespace",
    "builtins": "object range",
    "__builtin__": "object range xrange",
    "collections": "defaultdict deque",
    "datetime": "date datetime time timedelta timezone",
    "decimal": "Decimal",
    "fractions": "Fraction",
    "pathlib": "Path PosixPath PurePath PurePosixPath PureWindowsPath WindowsPath",
    "pathlib._local": "Path PosixPath PurePath PurePosixPath PureWindowsPath WindowsPath",
    "types": "SimpleNamespace",
    "uuid": "SafeUUID UUID",
    "numpy": "bool_ float16 float32 float64 int8 int16 int32 int64 str_ uint8 uint16 uint32 uint64",
    "numpy.random._mt19937": "MT19937",
    "numpy.random._pcg64": "PCG64 PCG64DXSM",
    "numpy.random._philox": "Philox",
    "numpy.random._sfc64": "SFC64",
    "numpy.random._pickle": "__bit_generator_ctor __generator_ctor __randomstate_ctor",
    "numpy.random.bit_generator": "SeedSequence __pyx_unpickle_SeedSequence",
    "torch._C": "Generator",
    "torch._dynamo.decorators": "_DimRange",
    "torch.nested._internal.nested_tensor": "NestedTensor _rebuild_njt",
    "torch.nn.parameter": "Buffer",
    "torch.torch_version": "TorchVersion",
}
REFUSED_GLOBALS = frozenset(f"{module}.{name}" for module, names in _VALUES.items() for name in names.split())
