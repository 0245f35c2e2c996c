"""The state of a random generator as a number: Python's, NumPy's, torch's. Read only, unseen by modes of torch's."""

from __future__ import annotations

import ctypes
import random
import sys
import zlib


def kinds():
    """Returns the classes of generators that there are in this process."""
    numpy, torch = sys.modules.get("numpy"), sys.modules["torch"]
    found = (random.Random, torch.Generator)
    if numpy is not None and hasattr(numpy, "random"):
        found += (numpy.random.RandomState, numpy.random.Generator)
    return found


def state_of(generator):
    """Returns a number for the state of a generator on the host; `generator` may be the module numpy.random."""
    if isinstance(generator, random.Random):
        return checksum(repr(generator.getstate()).encode())
    if isinstance(generator, sys.modules["torch"].Generator):
        return _of_torch(generator)
    if not hasattr(generator, "get_state"):  # the module has a submodule bit_generator, which is no generator's
        return checksum(repr(generator.bit_generator.state).encode())
    state = generator.get_state()
    return checksum(state[1].tobytes() + b"%d" % state[2])


def checksum(data):
    """Returns a number for these bytes."""
    return zlib.crc32(data)


def _of_torch(generator):
    with sys.modules["torch"]._C.DisableTorchFunction():
        state = generator.get_state()
        return checksum(ctypes.string_at(state.data_ptr(), state.numel()))
