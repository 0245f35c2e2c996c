"""Checksums and a few numbers of CPU tensors, read straight from memory: no operation of torch, no copy of a tensor.

What is read depends on a tensor's size alone, so that the prints of equal tensors are equal on all ranks. Nothing here
runs a kernel, touches the random state or waits for a device: a tensor that is not plainly in memory has no print.
"""

from __future__ import annotations

import ctypes
import struct
import sys
import zlib
from math import isfinite, isnan, sqrt
from operator import mul

MOST_BYTES = 512 * 1024  # of all tensors of one look
MOST_OF_ONE = 64 * 1024
LEAST_OF_ONE = 256
BLOCKS = 8
NUMBERS = 32  # of all blocks: what the root mean square is taken of
FORMATS = {"float32": "f", "float64": "d", "float16": "e"}
UNREADABLE, SHARDED, SPARSE = "device", "sharded", "sparse"
_SHARDED_TYPES = {"DTensor", "FlatParameter", "ShardedTensor"}


def share_of(tensors):
    """Returns how many bytes may be read of each of so many tensors."""
    return max(LEAST_OF_ONE, min(MOST_OF_ONE, MOST_BYTES // max(1, tensors)))


def why_not(tensor):
    """Returns why this tensor has no print, "" where it has one."""
    torch = sys.modules["torch"]
    kind = type(tensor)
    if kind.__name__ in _SHARDED_TYPES:
        return SHARDED
    if kind is not torch.Tensor and kind is not torch.nn.Parameter:
        return UNREADABLE
    if tensor.device.type != "cpu":
        return UNREADABLE
    if tensor.layout is not torch.strided:
        return SPARSE
    return "" if _is_dense(tensor) and _is_there(tensor) else UNREADABLE


def is_cut(tensor):
    """Whether this rank holds a part of a tensor: a DTensor over a mesh of this rank alone is whole."""
    if why_not(tensor) != SHARDED:
        return False
    spec = getattr(tensor, "_spec", None) if type(tensor).__name__ == "DTensor" else None
    return spec is None or spec.mesh.mesh.numel() > 1


def local_of(tensor):
    """Returns this rank's own shard of a DTensor, the tensor itself where it is none or has nothing of it."""
    local = getattr(tensor, "_local_tensor", None) if type(tensor).__name__ == "DTensor" else None
    return local if type(local) is sys.modules["torch"].Tensor and local.numel() else tensor


def unseen():
    """Returns a context in which no mode of the job (torch.overrides.TorchFunctionMode) sees what is asked."""
    return sys.modules["torch"]._C.DisableTorchFunction()


def print_of(tensor, share):
    """Returns [checksum, root mean square, first number] of a tensor that `why_not` has nothing against.

    A number that is not finite is "nan" or "inf"; types without numbers have None.
    """
    size = tensor.element_size()
    total = tensor.numel() * size
    if not total:
        return [0, None, None]
    address, checksum, heads = tensor.data_ptr(), 0, []
    parts = blocks(total, share, size)
    head = NUMBERS // len(parts) * size
    for start, length in parts:
        data = ctypes.string_at(address + start, length)
        checksum = zlib.crc32(data, checksum)
        heads.append(data[:head])
    told = numbers_in(b"".join(heads), str(tensor.dtype)[len("torch.") :])
    return [checksum, shown(_root_mean_square(told)), shown(told[0]) if told else None]


def blocks(total, share, size):
    """Returns (start, bytes) of what is read of `total` bytes in elements of `size`: all, or BLOCKS parts of it."""
    if total <= share:
        return ((0, total),)
    length = share // BLOCKS // size * size
    apart = (total - length) // (BLOCKS - 1) // size * size
    return tuple((index * apart, length) for index in range(BLOCKS))


def bytes_of(tensor):
    """Returns all the bytes of a small tensor that `why_not` has nothing against."""
    return ctypes.string_at(tensor.data_ptr(), tensor.numel() * tensor.element_size())


def elements_of(tensor, positions):
    """Returns the bytes of the elements at these positions of its memory, one after the other."""
    address, size = tensor.data_ptr(), tensor.element_size()
    return b"".join([ctypes.string_at(address + position * size, size) for position in positions])


def numbers_in(data, code):
    """Returns the numbers in these bytes, () for a type that is no real number in floating point."""
    if code == "bfloat16":  # the upper half of a float32
        halves = struct.unpack("<%dH" % (len(data) // 2), data)
        return struct.unpack("<%df" % len(halves), b"".join(struct.pack("<I", half << 16) for half in halves))
    letter = FORMATS.get(code)
    return struct.unpack("<%d%s" % (len(data) // struct.calcsize(letter), letter), data) if letter else ()


def scalar_of(tensor):
    """Returns the number in a CPU tensor of one element, None of another one."""
    try:
        if tensor.numel() != 1 or why_not(tensor):
            return None
        data = ctypes.string_at(tensor.data_ptr(), tensor.element_size())
    except RuntimeError:  # inside of torch.func a tensor is none
        return None
    found = numbers_in(data, str(tensor.dtype)[len("torch.") :])
    return found[0] if found else None


def shown(number):
    """Returns a number as JSON can hold it."""
    if number is None or isfinite(number):
        return number
    return "nan" if isnan(number) else "inf"


def _root_mean_square(numbers):
    if not numbers:
        return None
    try:
        return sqrt(sum(map(mul, numbers, numbers)) / len(numbers))
    except OverflowError:
        return float("inf")


def _is_there(tensor):
    """Whether the memory is: wrappers free that of a tensor and leave its shape."""
    if not tensor.numel():
        return True
    needed = (tensor.storage_offset() + tensor.numel()) * tensor.element_size()
    return tensor.data_ptr() != 0 and tensor.untyped_storage().nbytes() >= needed


def _is_dense(tensor):
    """Whether its elements fill one piece of memory, in whatever order."""
    if tensor.is_contiguous():
        return True
    last = sum((length - 1) * stride for length, stride in zip(tensor.shape, tensor.stride()))  # noqa: B905 - 3.10
    return tensor.numel() > 0 and last + 1 == tensor.numel()
