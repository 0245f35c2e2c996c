"""Storages as a torch pickle names them: key, element type, device tag and length."""

from __future__ import annotations

from dataclasses import dataclass

# Bytes of one element by the storage class that stands in the pickle. Source: torch/storage.py,
# _dtype_to_storage_type_map; UntypedStorage counts bytes. Quantised 4 and 2 bit types pack several in one.
STORAGE_TYPES: dict[str, tuple[str, int]] = {
    "DoubleStorage": ("float64", 8),
    "FloatStorage": ("float32", 4),
    "HalfStorage": ("float16", 2),
    "BFloat16Storage": ("bfloat16", 2),
    "LongStorage": ("int64", 8),
    "IntStorage": ("int32", 4),
    "ShortStorage": ("int16", 2),
    "CharStorage": ("int8", 1),
    "ByteStorage": ("uint8", 1),
    "BoolStorage": ("bool", 1),
    "ComplexDoubleStorage": ("complex128", 16),
    "ComplexFloatStorage": ("complex64", 8),
    "QInt8Storage": ("qint8", 1),
    "QUInt8Storage": ("quint8", 1),
    "QInt32Storage": ("qint32", 4),
    "QUInt4x2Storage": ("quint4x2", 1),
    "QUInt2x4Storage": ("quint2x4", 1),
    "UntypedStorage": ("bytes", 1),
}

# Bytes of one element by dtype, those without a storage class too. 1-bit to 7-bit types are not here.
DTYPE_BYTES: dict[str, int] = {
    **dict(STORAGE_TYPES.values()),
    "uint16": 2,
    "uint32": 4,
    "uint64": 8,
    "complex32": 4,
    "float4_e2m1fn_x2": 1,
    **{f"float8_{kind}": 1 for kind in ("e4m3fn", "e4m3fnuz", "e5m2", "e5m2fnuz", "e8m0fnu")},
}


@dataclass(frozen=True, slots=True, eq=False)
class StorageTag:
    """One storage, equal only to itself. `numel` counts its elements, `offset` is where the pickle names it."""

    key: str
    dtype: str
    itemsize: int
    location: str
    numel: int
    offset: int

    @property
    def bytes(self) -> int:
        """What its elements take."""
        return self.numel * self.itemsize


def storage_type(name: str) -> tuple[str, int]:
    """Returns (dtype, bytes of an element) of a storage class; an unknown one has its name and 0 bytes."""
    return STORAGE_TYPES.get(name, (name, 0))
