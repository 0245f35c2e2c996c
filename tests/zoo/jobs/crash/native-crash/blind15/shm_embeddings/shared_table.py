"""A read-only feature table, built once a machine and mapped by every rank."""
from multiprocessing import resource_tracker, shared_memory

import numpy as np


def publish(name, table):
    block = shared_memory.SharedMemory(name=name, create=True, size=table.nbytes)
    view = np.ndarray(table.shape, table.dtype, buffer=block.buf)
    view[:] = table
    return block


def attach(name, shape, dtype):
    block = shared_memory.SharedMemory(name=name)
    resource_tracker.unregister(block._name, "shared_memory")
    return np.ndarray(shape, dtype, buffer=block.buf)
