import threading
from collections import OrderedDict

import torch


class RowCache:
    def __init__(self, capacity):
        self.capacity = capacity
        self.rows = OrderedDict()
        self.guard = threading.RLock()

    def get(self, key, build):
        with self.guard:
            if key in self.rows:
                self.rows.move_to_end(key)
                return self.rows[key]
            row = build(key)
            self.rows[key] = row
            if len(self.rows) > self.capacity:
                self.rows.popitem(last=False)
            return row


class FeatureStore:
    def __init__(self, n_items, dim, cache_rows=0):
        self.n_items, self.dim = n_items, dim
        self.cache = RowCache(cache_rows) if cache_rows else None

    def _build(self, item):
        g = torch.Generator().manual_seed(item)
        return torch.randn(self.dim, generator=g)

    def row(self, item):
        if self.cache is None:
            return self._build(item)
        return self.cache.get(item, self._build)
