"""Moves new weights from the trainers to the engines in buckets."""
import time

import torch
import torch.distributed as dist


class ParameterServer:
    POLL_SECONDS = 0.02

    def __init__(self, store, rank, world):
        self._store = store
        self._rank = rank
        self._world = world
        self._registered = {}
        self.version = 0

    def register_checkpoint(self, name, tensors):
        self._registered[name] = {key: value.detach().clone() for key, value in tensors.items()}

    def unregister_checkpoint(self, name):
        self._registered.pop(name, None)

    def _arrive(self, group_name):
        return self._store.add(f"ps_barrier/{group_name}", 1)

    def store_based_barrier(self, group_name="ps"):
        """A barrier that needs no process group."""
        self._arrive(group_name)
        while self._store.add(f"ps_barrier/{group_name}", 0) != self._world:
            time.sleep(self.POLL_SECONDS)

    def update(self, name, receiver):
        self.store_based_barrier()
        bucket = self._registered[name]
        for key in sorted(bucket):
            owner = sum(map(ord, key)) % self._world
            value = bucket[key].clone()
            dist.broadcast(value, src=owner)
            receiver[key] = value
        self.version += 1
        return len(bucket)
