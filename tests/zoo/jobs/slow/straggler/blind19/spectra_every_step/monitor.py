import json

import torch


class WeightMonitor:
    """Writes spectra of all matrices, for the plots of the paper."""

    def __init__(self, path, rank, every=1):
        self.enabled = rank == 0
        self.every, self.path = every, path
        if self.enabled:
            self.file = open(path, "w")

    @torch.no_grad()
    def __call__(self, model, step):
        if not self.enabled or step % self.every:
            return
        row = {"step": step}
        for name, p in model.named_parameters():
            if p.ndim == 2:
                s = torch.linalg.svdvals(p)
                row[name] = {"top": s[0].item(), "rank": (s.sum() ** 2 / s.pow(2).sum()).item()}
        self.file.write(json.dumps(row) + "\n")

    def close(self):
        if self.enabled:
            self.file.close()
