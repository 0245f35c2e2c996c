import torch

from distributor import DDPDistributor


class DistributedShampoo(torch.optim.Optimizer):
    def __init__(self, params, cfg):
        super().__init__(params, dict(lr=cfg.lr, epsilon=cfg.epsilon))
        for group in self.param_groups:
            group["distributor"] = DDPDistributor(group["params"])

    def _precondition(self, param, epsilon):
        state = self.state[param]
        grad = param.grad
        if "second_moment" not in state:
            state["second_moment"] = torch.zeros_like(grad)
        state["second_moment"].mul_(0.95).addcmul_(grad, grad, value=0.05)
        return grad / (state["second_moment"].sqrt() + epsilon)

    @torch.no_grad()
    def step(self, closure=None):
        for group in self.param_groups:
            distributor = group["distributor"]
            local = distributor.local_masked()
            if not local:
                continue
            directions = {
                p: self._precondition(p, group["epsilon"]).mul(-group["lr"]) for p in local
            }
            distributor.update_params(directions)
