import torch


class SAM(torch.optim.Optimizer):
    """Sharpness-aware minimisation: climb to the worst point nearby, take the gradient there, step from where it began."""

    def __init__(self, params, base, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    def _norm(self):
        grads = [p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]
        return torch.stack(grads).norm()

    @torch.no_grad()
    def climb(self):
        scale_by = 1.0 / (self._norm() + 1e-12)
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["origin"] = p.detach().clone()
                p.add_(p.grad * (group["rho"] * scale_by))
        self.zero_grad(set_to_none=True)

    @torch.no_grad()
    def descend(self):
        for group in self.param_groups:
            for p in group["params"]:
                if "origin" in self.state[p]:
                    p.copy_(self.state[p].pop("origin"))
        self.base_optimizer.step()
        self.zero_grad(set_to_none=True)

    def step(self, closure=None):
        raise RuntimeError("call climb() and descend()")
