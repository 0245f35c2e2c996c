import os
import time

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Engine:
    def __init__(self, model, lr, max_steps, out):
        self.model = DDP(model)
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=lr)
        self.max_steps, self.out, self.step = max_steps, out, 0
        self.rank = dist.get_rank()

    def load(self, path):
        state = torch.load(path)
        self.model.module.load_state_dict(state["model"])
        self.step = state["step"]
        if self.rank == 0:
            print(f"loaded {path}", flush=True)

    def save(self):
        if self.rank == 0:
            os.makedirs(os.path.dirname(self.out), exist_ok=True)
            torch.save({"model": self.model.module.state_dict(), "step": self.step}, self.out)
            print(f"saved {self.out}", flush=True)

    def fit(self, loader):
        begin = time.time()
        self.model.train()
        epoch = 0
        while self.step < self.max_steps:
            loader.sampler.set_epoch(epoch)
            for x, y in loader:
                loss = nn.functional.cross_entropy(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.step += 1
                if self.rank == 0 and self.step % 50 == 0:
                    print(f"step {self.step} loss {loss.item():.4f}", flush=True)
                if self.step >= self.max_steps:
                    break
            epoch += 1
        self.save()
        if self.rank == 0:
            print(f"training took {time.time() - begin:.1f}s", flush=True)
