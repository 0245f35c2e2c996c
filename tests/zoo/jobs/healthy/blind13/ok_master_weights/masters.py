import torch


class MasterAdamW:
    """AdamW over float32 copies; the bfloat16 model is written from them after each step."""

    def __init__(self, params, **kw):
        self.low = [p for p in params if p.requires_grad]
        self.high = [torch.nn.Parameter(p.detach().float().clone()) for p in self.low]
        self.inner = torch.optim.AdamW(self.high, **kw)

    @property
    def param_groups(self):
        return self.inner.param_groups

    def zero_grad(self):
        for p in self.low:
            p.grad = None

    @torch.no_grad()
    def step(self):
        for lo, hi in zip(self.low, self.high):
            hi.grad = lo.grad.float()
        self.inner.step()
        for lo, hi in zip(self.low, self.high):
            lo.copy_(hi)
