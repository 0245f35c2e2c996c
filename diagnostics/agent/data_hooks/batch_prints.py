"""Fingerprints of a batch that lies on the host: one of it all, and one of each sample.

Reads memory only: no operation of torch runs, nothing is kept, and neither devices nor random numbers are touched.
At most BYTES of a batch are read, spread evenly over its samples and tensors; the prints are the same in every
process.
"""

from __future__ import annotations

import ctypes
import sys
import zlib
from collections import UserDict

BYTES = 16 * 1024  # of one batch
MOST_SAMPLES = 128  # of one batch
MOST_LEAVES, MOST_DEPTH = 8, 4
COPIED_BYTES = 64 * 1024  # a tensor whose rows are not of one piece is copied up to this size
_MASK = (1 << 64) - 1
_READ_ONLY = 0x100


class Prints:
    """Of one batch: `rows` in it, `whole` of all, `samples` of the rows `range(0, rows, stride)`, `total` their sum."""

    __slots__ = ("constant", "rows", "samples", "stride", "total", "whole")

    def __init__(self, rows, whole, total, samples, stride, constant):
        self.rows, self.whole, self.total, self.samples = rows, whole, total, samples
        self.stride, self.constant = stride, constant


def _mixed(value):
    """Returns 64 bits in which each bit of `value` counts (splitmix64)."""
    value = (value + 0x9E3779B97F4A7C15) & _MASK
    value = (value ^ value >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    value = (value ^ value >> 27) * 0x94D049BB133111EB & _MASK
    return value ^ value >> 31


class Printer:
    """Makes prints; `numpy` and `torch` are those of the job."""

    def __init__(self, torch, numpy):
        self._torch, self._numpy, self._strided = torch, numpy, torch.strided
        self._words = {size: numpy.dtype("u%d" % size) for size in (1, 2, 4, 8)}
        odd = [_mixed(number) | 1 for number in range(BYTES)]
        self._odd = numpy.array(odd, dtype="u8")
        self._shift = numpy.array(32, dtype="u8")
        self._unseen = torch._C.DisableTorchFunction
        self._memory = ctypes.pythonapi.PyMemoryView_FromMemory
        self._memory.restype = ctypes.py_object
        self._memory.argtypes = (ctypes.c_void_p, ctypes.c_ssize_t, ctypes.c_int)

    def of(self, batch):
        """Returns the Prints of a batch, None where nothing in it lies on the host or can be read."""
        with self._unseen():  # by a mode of the job's that looks at every function of torch
            return self._of(leaves_of(batch))

    def _of(self, leaves):
        found = [pair for pair in ((leaf, self._rows_of(leaf)) for leaf in leaves) if pair[1]]
        if not found:
            return None
        rows = found[0][1]
        stride = -(-rows // MOST_SAMPLES)
        kept = -(-rows // stride)
        alike = [leaf for leaf, count in found if count == rows][:MOST_LEAVES]
        share = max(8, BYTES // len(alike) // kept)  # bytes of one sample of one tensor
        lanes, constant = None, True
        for leaf in alike:
            lane, same = self._lane(leaf, rows, stride, share)
            if lane is not None:
                constant = constant and same
                lanes = lane if lanes is None else lanes * self._odd[1] + lane
        if lanes is None:
            return None
        lanes ^= lanes >> self._shift
        lanes *= self._odd[2]
        whole = int(lanes.dot(self._odd[: len(lanes)])) ^ rows
        samples = lanes.tolist()
        return Prints(rows, whole, sum(samples) & _MASK, samples, stride, constant)

    def _rows_of(self, leaf):
        """Returns how many samples a leaf holds, 0 where it cannot be read."""
        kind = type(leaf)
        if kind is list:
            return len(leaf)
        if kind is self._numpy.ndarray:
            return leaf.shape[0] if leaf.ndim and leaf.size and leaf.dtype.kind in "biufc" else 0
        if kind is not self._torch.Tensor or not leaf.is_cpu or leaf.layout is not self._strided:
            return 0
        shape = leaf.shape
        return shape[0] if shape and leaf.numel() else 0

    def _lane(self, leaf, rows, stride, share):
        """Returns one number a sample, and whether all that was read is the same word."""
        numpy = self._numpy
        if type(leaf) is list:
            sums = [zlib.crc32(_bytes_of(item)) for item in leaf[::stride]]
            return numpy.array(sums, dtype="u8") * self._odd[3], len(set(sums)) == 1
        view = self._array(leaf, rows)
        if view is None:
            return None, True
        count = max(1, share // view.itemsize)
        step = -(-view.shape[1] // count)
        picked = view[::stride, ::step]
        values = picked.astype("u8")
        first = values.item(0)
        same = values.item(values.size - 1) == first and bool((values == first).all())
        # Linear, by random odd factors: two samples that differ have one print by chance alone.
        return values.dot(self._odd[: values.shape[1]]), same

    def _array(self, leaf, rows):
        """Returns (rows, words) over the memory of a tensor or array, a copy of it where rows are in pieces."""
        numpy = self._numpy
        if type(leaf) is numpy.ndarray:
            if not leaf.flags.c_contiguous:
                if leaf.nbytes > COPIED_BYTES:
                    return None
                leaf = numpy.ascontiguousarray(leaf)
            flat = leaf.reshape(-1).view("u1")
        else:
            size, items = leaf.element_size(), leaf.numel()
            if leaf.is_contiguous() or (leaf.stride(0) * rows == items and self._is_dense(leaf)):
                flat = numpy.frombuffer(self._memory(leaf.data_ptr(), items * size, _READ_ONLY), dtype="u1")
            elif items * size <= COPIED_BYTES:
                span = sum((n - 1) * step for n, step in zip(leaf.shape, leaf.stride())) + 1  # noqa: B905
                memory = self._memory(leaf.data_ptr(), span * size, _READ_ONLY)
                strides = tuple(step * size for step in leaf.stride())
                flat = numpy.ndarray(tuple(leaf.shape), "V%d" % size, memory, 0, strides)
                flat = numpy.frombuffer(flat.tobytes(), dtype="u1")
            else:
                return None
        row = flat.size // rows
        word = next(size for size in (8, 4, 2, 1) if not row % size)
        return flat.view(self._words[word]).reshape(rows, row // word)

    @staticmethod
    def _is_dense(leaf):
        """Whether the samples lie one after the other, each of one piece, whatever the order within it."""
        steps = sorted(pair for pair in zip(leaf.stride()[1:], leaf.shape[1:]) if pair[1] > 1)  # noqa: B905
        expected = 1
        for step, count in steps:
            if step != expected:
                return False
            expected *= count
        return expected == leaf.stride(0)


def printer():
    """Returns the Printer of this process, None where the job has no numpy to read memory with."""
    torch, numpy = sys.modules.get("torch"), sys.modules.get("numpy")
    return Printer(torch, numpy) if torch is not None and hasattr(numpy, "frombuffer") else None


def leaves_of(batch):
    """Returns tensors, arrays and lists of plain values in a batch, in order; runs no code of the job's."""
    leaves, waiting = [], [(batch, 0)]
    while waiting and len(leaves) < 2 * MOST_LEAVES:
        value, depth = waiting.pop()
        if isinstance(value, UserDict):
            value = vars(value).get("data")
        if isinstance(value, dict):
            items = list(dict.values(value))
        elif isinstance(value, (list, tuple)):
            items = list(value)
            if items and all(type(item) in (str, int, float, bytes) for item in items[:MOST_SAMPLES]):
                leaves.append(items)
                continue
        elif value is None or isinstance(value, (str, bytes, int, float)):
            continue
        else:
            leaves.append(value)
            continue
        if depth < MOST_DEPTH:
            waiting.extend((item, depth + 1) for item in reversed(items[: 4 * MOST_LEAVES]))
    return leaves


def _bytes_of(item):
    if type(item) is bytes:
        return item[:BYTES]
    return item[:BYTES].encode("utf-8", "replace") if type(item) is str else repr(item).encode()
