from contextlib import nullcontext

import torch.distributed as dist


class Trainer:
    def __init__(self, model, optim, accum_grad, use_ddp):
        self.model, self.optim, self.accum_grad, self.use_ddp = model, optim, accum_grad, use_ddp

    def named(self, loader):
        for batch_idx, batch in enumerate(loader):
            sync_off = self.use_ddp and batch_idx % self.accum_grad != 0
            context = self.model.no_sync if sync_off else nullcontext
            with context():
                loss = self.model(batch) / self.accum_grad
                loss.backward()
            if (batch_idx + 1) % self.accum_grad == 0:
                self.optim.step()
                self.optim.zero_grad()


def in_branches(model, optimizer, loader, every):
    for step, batch in enumerate(loader, 1):
        if dist.is_initialized() and (step + 1) % every != 0:
            with model.no_sync():
                model(batch).backward()
        else:
            model(batch).backward()
        if step % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def with_the_rest(model, optimizer, loader, every):
    for i, batch in enumerate(loader):
        last = (i + 1) % every == 0 or i + 1 == len(loader)
        with model.no_sync() if i % every and isinstance(batch, dict) else nullcontext():
            model(batch).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()
