from contextlib import nullcontext

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


class Loop:
    def __init__(self, net, opt, sched, accum, device):
        self.net, self.opt, self.sched = net, opt, sched
        self.accum, self.device = accum, device
        self.updates = 0

    def sync_guard(self, i):
        if isinstance(self.net, DistributedDataParallel) and i % self.accum != 0:  # cause
            return self.net.no_sync()  # cause
        return nullcontext()

    def micro(self, src, tgt, criterion):
        logits = self.net(src, tgt[:, :-1])
        loss = criterion(logits.flatten(0, 1), tgt[:, 1:].flatten())
        (loss / self.accum).backward()
        return loss.detach()

    def epoch(self, loader, criterion):
        self.net.train()
        full = len(loader) // self.accum * self.accum
        running = torch.zeros((), device=self.device)
        for i, (src, tgt) in enumerate(loader):
            if i == full:
                break
            src, tgt = src.to(self.device), tgt.to(self.device)
            with self.sync_guard(i):  # cause
                running += self.micro(src, tgt, criterion)
            if (i + 1) % self.accum == 0:  # cause
                torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
                self.opt.step()  # cause
                self.sched.step()
                self.opt.zero_grad(set_to_none=True)
                self.updates += 1
        dist.all_reduce(running)
        return (running / (max(full, 1) * dist.get_world_size())).item()
