import contextlib

import torch


class EMAModel:
    """Exponential moving average of the weights of a model."""

    def __init__(self, parameters, decay, dtype):
        self.decay = decay
        self.shadow = [p.detach().clone().to(dtype) for p in parameters]

    @torch.no_grad()
    def step(self, parameters):
        for s, p in zip(self.shadow, parameters):
            s.sub_((1 - self.decay) * (s - p.to(s.dtype)))

    @contextlib.contextmanager
    def applied_to(self, parameters):
        parameters = list(parameters)
        kept = [p.detach().clone() for p in parameters]
        for p, s in zip(parameters, self.shadow):
            p.data.copy_(s)
        try:
            yield
        finally:
            for p, k in zip(parameters, kept):
                p.data.copy_(k)
