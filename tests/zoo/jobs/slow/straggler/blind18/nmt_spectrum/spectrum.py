import json

import torch


class SpectrumLog:
    """Stable rank of each weight matrix, one JSON line per visit."""

    def __init__(self, path, interval, from_epoch):
        self.path, self.interval, self.from_epoch = path, interval, from_epoch

    @torch.no_grad()
    def visit(self, epoch, step, module):
        if epoch < self.from_epoch or step % self.interval:
            return
        row = {"step": step}
        for name, p in module.named_parameters():
            if p.ndim == 2:
                s = torch.linalg.svd(p.double(), full_matrices=True).S
                row[name] = (s.square().sum() / s[0] ** 2).item()
        with open(self.path, "a") as f:
            f.write(json.dumps(row) + "\n")


class Silent:
    def visit(self, *a):
        pass
