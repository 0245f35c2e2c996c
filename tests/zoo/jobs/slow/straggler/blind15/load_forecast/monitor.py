import json
import os

import torch


class Monitor:
    """Distributions of weights and updates, one JSON line a call."""

    def __init__(self, path, bins=60):
        self.bins = bins
        os.makedirs(os.path.dirname(path), exist_ok=True)
        self.file = open(path, "w")
        self.before = None

    def snapshot(self, model):
        self.before = {n: p.detach().clone() for n, p in model.named_parameters()}

    def _stats(self, value):
        flat = value.flatten()
        q = torch.quantile(flat, torch.linspace(0, 1, 33))
        hist = torch.histc(flat, self.bins)
        return {"q": q.tolist(), "hist": hist.tolist(), "norm": flat.norm().item()}

    def write(self, model, step):
        record = {"step": step}
        for name, p in model.named_parameters():
            record[name] = {"weight": self._stats(p.detach()), "update": self._stats(p.detach() - self.before[name])}
            if p.ndim == 2:
                record[name]["rank"] = torch.linalg.svdvals(p.detach())[:16].tolist()
        self.file.write(json.dumps(record) + "\n")
        self.file.flush()
