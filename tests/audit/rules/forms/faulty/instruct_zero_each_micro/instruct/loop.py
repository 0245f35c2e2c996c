import contextlib

import torch.distributed as dist
from torch import nn


class MicroBatchLoop:
    def __init__(self, model, opt, sched, accumulate, max_norm=1.0):
        self.model, self.opt, self.sched = model, opt, sched
        self.accumulate, self.max_norm = accumulate, max_norm
        self.micro = 0
        self.updates = 0

    def _context(self, last):
        return contextlib.nullcontext() if last else self.model.no_sync()

    def _loss(self, batch):
        logits = self.model(batch["ids"], batch["mask"])
        loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), batch["labels"][:, 1:].flatten(), ignore_index=-100)
        return loss / self.accumulate

    def feed(self, batch):
        self.micro += 1
        last = self.micro % self.accumulate == 0
        self.opt.zero_grad(set_to_none=True)  # cause
        with self._context(last):
            loss = self._loss(batch)
            loss.backward()
        if last:
            self._update()
        return loss.detach() * self.accumulate

    def _update(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_norm)
        self.opt.step()
        self.sched.step()
        self.updates += 1


def mean_over_ranks(value):
    value = value.clone()
    dist.all_reduce(value, op=dist.ReduceOp.AVG)
    return value.item()
