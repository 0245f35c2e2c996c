import os
import signal

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, model, loader, cfg):
        self.rank = dist.get_rank()
        self.model = DDP(model)
        self.loader, self.cfg = loader, cfg
        self.opt = torch.optim.SGD(self.model.parameters(), lr=cfg["lr"], momentum=0.9)
        self.step = 0
        self.preempted = False
        signal.signal(signal.SIGUSR1, self._on_signal)
        if self.rank == 0:
            with open(cfg["pid_file"], "w") as f:
                f.write(str(os.getpid()))

    def _on_signal(self, signum, frame):
        print(f"rank {self.rank}: received {signal.Signals(signum).name}", flush=True)
        self.preempted = True

    def save(self, name):
        if self.rank == 0:
            torch.save({"model": self.model.module.state_dict(), "step": self.step}, name)
        dist.barrier()

    def fit(self):
        for epoch in range(self.cfg["epochs"]):
            self.loader.sampler.set_epoch(epoch)
            for x, y in self.loader:
                loss = nn.functional.mse_loss(self.model(x), y)
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                self.step += 1
                if self.preempted:
                    self.save("preempt.pt")
                    return "preempted"
            if self.rank == 0:
                print(f"epoch {epoch} step {self.step} loss {loss.item():.4f}", flush=True)
        self.save("final.pt")
        return "finished"
