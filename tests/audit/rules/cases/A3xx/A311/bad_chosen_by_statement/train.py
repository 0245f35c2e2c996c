"""The context is chosen by a statement: in two arms, over a default, the other way round, and handed over uncalled."""

import contextlib


class Trainer:
    def epoch(self, loader):
        for batch_idx, batch in enumerate(loader):
            if batch_idx % self.accum_grad != 0:
                ctx = self.model.no_sync()
            else:
                ctx = contextlib.nullcontext()
            with ctx:
                self.loss(batch).backward()
            if (batch_idx + 1) % self.accum_grad == 0:
                self.optimizer.step()
                self.optimizer.zero_grad()


def over_a_default(model, loader, scaler, optimizer, every, loss):
    for i, batch in enumerate(loader):
        sync = contextlib.nullcontext
        if i % every:
            sync = model.no_sync
        with sync():
            scaler.scale(loss(model(batch))).backward()
        if (i + 1) % every == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def the_other_way_round(model, loader, optimizer, loss):
    for n, (x, y) in enumerate(loader, start=1):
        if n % 8 == 1:
            context = contextlib.nullcontext()
        else:
            context = model.no_sync()
        with context:
            loss(model(x), y).backward()
        if n % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()


def on_a_stack(model, loader, optimizer, loss, every):
    for i, batch in enumerate(loader):
        with contextlib.ExitStack() as stack:
            if i % every != 0:
                stack.enter_context(model.no_sync())
            loss(model(batch)).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()
