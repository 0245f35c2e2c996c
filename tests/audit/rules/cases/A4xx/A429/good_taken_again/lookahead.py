from torch.optim.optimizer import Optimizer


class Lookahead(Optimizer):
    def __init__(self, base, k):
        self.base = base
        self.k = k
        self.param_groups = self.base.param_groups

    def step(self):
        self.base.step()
        for group in self.param_groups:
            group["count"] += 1

    def load_state_dict(self, state):
        self.base.load_state_dict(state)
        self.param_groups = self.base.param_groups
