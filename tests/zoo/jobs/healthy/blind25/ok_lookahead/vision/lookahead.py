import torch


class Lookahead:
    """k steps forward, 1 step back (Zhang et al. 2019)."""

    def __init__(self, optimizer, k=6, alpha=0.5):
        self.optimizer, self.k, self.alpha = optimizer, k, alpha
        self.params = [p for g in optimizer.param_groups for p in g["params"]]
        self.slow = [p.detach().clone() for p in self.params]
        self.count = 0

    def zero_grad(self):
        self.optimizer.zero_grad(set_to_none=True)

    @torch.no_grad()
    def step(self):
        self.optimizer.step()
        self.count += 1
        if self.count % self.k == 0:
            for s, p in zip(self.slow, self.params):
                s.lerp_(p, self.alpha)
                p.copy_(s)
