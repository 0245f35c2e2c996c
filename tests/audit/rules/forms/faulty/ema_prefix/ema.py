import contextlib

import torch


class WeightEMA:
    def __init__(self, model, decay=0.999):
        self.decay = decay
        self.shadow = {n: p.detach().clone() for n, p in model.named_parameters() if p.requires_grad}
        self.backup = {}

    @torch.no_grad()
    def update(self, model):
        for name, p in model.named_parameters():
            if name in self.shadow:  # cause
                self.shadow[name].lerp_(p.detach(), 1.0 - self.decay)

    @contextlib.contextmanager
    def applied(self, model):
        params = {n: p for n, p in model.named_parameters() if n in self.shadow}
        self.backup = {n: p.detach().clone() for n, p in params.items()}
        try:
            for n, p in params.items():
                p.data.copy_(self.shadow[n])
            yield model
        finally:
            for n, p in params.items():
                p.data.copy_(self.backup[n])
            self.backup = {}
