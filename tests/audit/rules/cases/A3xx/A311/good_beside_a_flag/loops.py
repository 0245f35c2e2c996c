from contextlib import nullcontext

import torch.distributed as dist


class Trainer:
    def __init__(self, model, optim, accum_grad, use_ddp):
        self.model, self.optim, self.accum_grad, self.use_ddp = model, optim, accum_grad, use_ddp

    def named(self, loader):
        for batch_idx, batch in enumerate(loader):
            sync_off = self.use_ddp and (batch_idx + 1) % self.accum_grad != 0
            context = self.model.no_sync if sync_off else nullcontext
            with context():
                loss = self.model(batch) / self.accum_grad
                loss.backward()
            if (batch_idx + 1) % self.accum_grad == 0:
                self.optim.step()
                self.optim.zero_grad()


def with_the_rest(model, optimizer, loader, every):
    for i, batch in enumerate(loader):
        last = (i + 1) % every == 0 or i + 1 == len(loader)
        with model.no_sync() if dist.is_initialized() and not last else nullcontext():
            model(batch).backward()
        if last:
            optimizer.step()
            optimizer.zero_grad()


def steps_at_first(model, optimizer, loader, every, warm):
    for i, batch in enumerate(loader):
        waits = i % every != 0 and not warm
        with model.no_sync() if waits else nullcontext():
            model(batch).backward()
        if i % every == 0 or warm:
            optimizer.step()
            optimizer.zero_grad()


def by_a_flag_alone(model, optimizer, loader, every, keep, wide):
    for i, batch in enumerate(loader):
        if i == 8:
            keep = wide
        with model.no_sync() if keep and wide else nullcontext():
            model(batch).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
