import contextlib

import torch


class EMAWeights:
    """Average of the trained parameters, lent to the model for an evaluation."""

    def __init__(self, params, decay):
        self.params, self.decay, self.count = list(params), decay, 0
        self.shadow = [p.detach().clone() for p in self.params]

    @torch.no_grad()
    def update(self):
        self.count += 1
        decay = min(self.decay, self.count / (self.count + 9))
        for s, p in zip(self.shadow, self.params):
            s.lerp_(p, 1 - decay)

    @contextlib.contextmanager
    def applied(self):
        kept = [p.detach().clone() for p in self.params]
        with torch.no_grad():
            for p, s in zip(self.params, self.shadow):
                p.copy_(s)
        try:
            yield
        finally:
            with torch.no_grad():
                for p, k in zip(self.params, kept):
                    p.copy_(k)
