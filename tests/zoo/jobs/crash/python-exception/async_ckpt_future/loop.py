import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from checkpointer import AsyncCheckpointer


class Loop:
    def __init__(self, folder, steps, save_every):
        torch.manual_seed(0)
        self.model = DDP(nn.Linear(20, 1))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.steps, self.save_every = steps, save_every
        self.checkpointer = AsyncCheckpointer(folder) if dist.get_rank() == 0 else None
        self.best = None

    def train_step(self):
        x = torch.randn(64, 20)
        loss = (self.model(x) - x.mean(1, keepdim=True)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def run(self):
        for step in range(1, self.steps + 1):
            loss = self.train_step()
            if step > self.steps // 2 and (self.best is None or loss < self.best):
                self.best = loss
            if step % self.save_every == 0 and self.checkpointer:
                self.checkpointer.save(step, self.model, {"step": step, "best_loss": self.best})
                print("queued checkpoint", step, flush=True)
        if self.checkpointer:
            self.checkpointer.wait()
