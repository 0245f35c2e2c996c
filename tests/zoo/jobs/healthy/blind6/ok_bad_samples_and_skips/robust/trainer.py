import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class RobustTrainer:
    def __init__(self, tracker):
        self.tracker, self.step, self.skipped = tracker, 0, 0
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(10, 16), nn.Tanh(), nn.Linear(16, 1)))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.05)

    def all_finite(self, loss):
        finite = torch.tensor(int(bool(torch.isfinite(loss))))
        dist.all_reduce(finite, op=dist.ReduceOp.MIN)
        return bool(finite)

    def epoch(self, loader, epoch):
        for x in loader:
            self.optimizer.zero_grad()
            loss = (self.model(x) - x.sum(1, keepdim=True)).square().mean()
            self.step += 1
            if not self.all_finite(loss):
                self.skipped += 1
                continue
            loss.backward()
            self.optimizer.step()
            self.tracker.log(self.step, loss.item())
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
