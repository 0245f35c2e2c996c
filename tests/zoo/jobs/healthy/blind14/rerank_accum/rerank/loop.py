import contextlib
from collections import deque

import torch
import torch.distributed as dist
from torch.nn import functional as F


def warmup_cosine(total, warmup):
    import math

    def f(k):
        if k < warmup:
            return 0.0 if k < 3 else k / warmup
        return 0.5 * (1 + math.cos(math.pi * (k - warmup) / max(1, total - warmup)))
    return f


class Loop:
    def __init__(self, model, loader, opt, sched, accum, updates, valid, patience):
        self.model, self.loader, self.opt, self.sched = model, loader, opt, sched
        self.accum, self.updates, self.valid, self.patience = accum, updates, valid, patience
        self.rank = dist.get_rank()
        self.recent = deque(maxlen=50)
        self.best, self.stale = float("inf"), 0

    def one_update(self, stream):
        self.model.train()
        for micro in range(self.accum):
            hist, item, label = next(stream)
            last = micro == self.accum - 1
            with contextlib.nullcontext() if last else self.model.no_sync():
                loss = F.binary_cross_entropy_with_logits(self.model(hist, item), label) / self.accum
                loss.backward()
            self.recent.append(loss.detach())
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        self.sched.step()
        self.opt.zero_grad(set_to_none=True)

    @torch.no_grad()
    def score(self):
        out = torch.zeros(())
        if self.rank == 0:
            net = self.model.module
            net.eval()
            hist, item, label = self.valid
            out = F.binary_cross_entropy_with_logits(net(hist, item), label)
            net.train()
        dist.broadcast(out, 0)
        return out.item()

    def run(self, every=20):
        stream = iter(self.loader)
        for k in range(1, self.updates + 1):
            self.one_update(stream)
            if k % every == 0:
                v = self.score()
                if v < self.best - 1e-4:
                    self.best, self.stale = v, 0
                else:
                    self.stale += 1
                if self.rank == 0:
                    mean = torch.stack(list(self.recent)).mean().item() * self.accum
                    print(f"update {k} train {mean:.4f} valid {v:.4f} lr {self.sched.get_last_lr()[0]:.5f}", flush=True)
                if self.stale >= self.patience:
                    break
