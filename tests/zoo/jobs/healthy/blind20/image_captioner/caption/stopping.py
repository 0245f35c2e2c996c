import torch
import torch.distributed as dist


class EarlyStop:
    def __init__(self, patience):
        self.patience, self.best, self.waited = patience, float("inf"), 0

    def decide(self, value):
        """Only the main process has a value; what it decides holds for all."""
        flag = torch.zeros(1)
        if dist.get_rank() == 0:
            self.waited = 0 if value < self.best - 1e-4 else self.waited + 1
            self.best = min(self.best, value)
            flag.fill_(float(self.waited >= self.patience))
        dist.broadcast(flag, src=0)
        return bool(flag.item())
