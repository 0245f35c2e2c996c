import contextlib

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, model, lr=1e-3, accum_grad=4, log_interval=25):
        self.model = DDP(model)
        self.optim = torch.optim.Adam(self.model.parameters(), lr=lr)
        self.accum_grad, self.log_interval = accum_grad, log_interval
        self.rank = dist.get_rank()
        self.updates = 0

    def train_epoch(self, epoch, loader):
        self.model.train()
        stats = {"loss": 0.0, "n": 0}
        my_context = self.model.no_sync
        self.optim.zero_grad()
        for batch_idx, (speech, text) in enumerate(loader):
            with my_context() if batch_idx % self.accum_grad != 0 else contextlib.nullcontext():
                loss = nn.functional.cross_entropy(self.model(speech), text) / self.accum_grad
                loss.backward()
            stats["loss"] += loss.item() * self.accum_grad
            stats["n"] += 1
            if (batch_idx + 1) % self.accum_grad == 0:
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
                self.optim.step()
                self.optim.zero_grad()
                self.updates += 1
                if self.rank == 0 and self.updates % self.log_interval == 0:
                    print(f"epoch {epoch} update {self.updates} loss {stats['loss'] / stats['n']:.4f}", flush=True)

    @torch.no_grad()
    def validate(self, loader):
        self.model.eval()
        hit = torch.zeros(2)
        for speech, text in loader:
            hit += torch.tensor([(self.model.module(speech).argmax(1) == text).sum().item(), len(text)], dtype=torch.float)
        dist.all_reduce(hit)
        return (hit[0] / hit[1]).item()
