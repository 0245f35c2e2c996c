from collections import defaultdict

import torch
import torch.distributed as dist


class AnaLogState:
    """Holds every statistic that the hooks collect, one dictionary per name."""

    def __init__(self, world_size):
        self.world_size = world_size
        self._names = set()
        self._synchronized = set()
        self._normalized = []

    def register(self, name, synchronize=False, normalize_by=None):
        if name in self._names:
            raise ValueError(f"{name} is already registered")
        setattr(self, name, defaultdict(lambda: 0))
        self._names.add(name)
        if synchronize:
            self._synchronized.add(name)
        if normalize_by is not None:
            self._normalized.append((name, normalize_by))

    @torch.no_grad()
    def synchronize(self):
        if self.world_size == 1:
            return
        for name in self._synchronized:
            collected = getattr(self, name)
            for module_name in sorted(collected):
                collected[module_name] = self._reduce(collected[module_name])

    def _reduce(self, value):
        if isinstance(value, torch.Tensor):
            dist.all_reduce(value)
            return value
        counts = [None] * self.world_size
        dist.all_gather_object(counts, value)
        return sum(counts)

    def normalize(self):
        for name, counter in self._normalized:
            values, counts = getattr(self, name), getattr(self, counter)
            for module_name in values:
                values[module_name] = values[module_name] / max(counts[module_name], 1)

    def trace(self, name):
        return {k: float(v.diagonal().sum()) for k, v in sorted(getattr(self, name).items())}
