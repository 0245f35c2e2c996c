import weakref

import torch
import torch.distributed as dist


class SymmetricBuffer:
    """A region that has the same layout on every rank of the group."""

    def __init__(self, pool, shape):
        self.data = pool.carve(shape)
        self._finalizer = weakref.finalize(self, pool.release, self.data.numel())

    @property
    def shape(self):
        return self.data.shape


class SymmetricPool:
    def __init__(self, capacity, group=None):
        self.arena = torch.zeros(capacity)
        self.offset = 0
        self.group = group

    def carve(self, shape):
        numel = int(torch.Size(shape).numel())
        if self.offset + numel > self.arena.numel():
            raise MemoryError(f"symmetric pool is full: {self.offset} + {numel}")
        view = self.arena[self.offset : self.offset + numel].view(shape)
        self.offset += numel
        return view

    def release(self, numel):
        # peers may still read this region: nobody reuses it before all are through
        dist.barrier(group=self.group)
        self.offset -= numel

    def empty(self, *shape):
        return SymmetricBuffer(self, shape)
