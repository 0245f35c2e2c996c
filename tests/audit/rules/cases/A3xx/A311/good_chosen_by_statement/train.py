"""The context is chosen by a statement that fits the step, or by something else than the round."""

import contextlib


class Trainer:
    def epoch(self, loader):
        for batch_idx, batch in enumerate(loader):
            if (batch_idx + 1) % self.accum_grad != 0:
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
        if (i + 1) % every:
            sync = model.no_sync
        with sync():
            scaler.scale(loss(model(batch))).backward()
        if (i + 1) % every == 0:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()


def the_other_way_round(model, loader, optimizer, loss):
    for n, (x, y) in enumerate(loader, start=1):
        if n % 8 == 0:
            context = contextlib.nullcontext()
        else:
            context = model.no_sync()
        with context:
            loss(model(x), y).backward()
        if n % 8 == 0:
            optimizer.step()
            optimizer.zero_grad()


def each_round_of_its_own(model, loader, optimizer, loss, every):
    """The name is made again behind, and what is entered is that."""
    for i, batch in enumerate(loader):
        if i % every != 0:
            ctx = model.no_sync()
        else:
            ctx = contextlib.nullcontext()
        if (i + 1) % every == 0:
            ctx = contextlib.nullcontext()
        else:
            ctx = model.no_sync()
        with ctx:
            loss(model(batch)).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def on_a_stack(model, loader, optimizer, loss, every):
    for i, batch in enumerate(loader):
        with contextlib.ExitStack() as stack:
            if (i + 1) % every != 0:
                stack.enter_context(model.no_sync())
            loss(model(batch)).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def steps_in_the_other_arm(model, loader, optimizer, loss, every, log):
    for i, batch in enumerate(loader):
        with model.no_sync() if (i + 1) % every else contextlib.nullcontext():
            loss(model(batch)).backward()
        if (i + 1) % every:
            log(i)
        else:
            optimizer.step()
            optimizer.zero_grad()
