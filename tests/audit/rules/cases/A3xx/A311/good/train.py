"""The round of the step is synchronised."""
from contextlib import nullcontext


def in_one_line(model, loss, optimizer, loader, every):
    for i, x in enumerate(loader):
        with model.no_sync() if (i + 1) % every != 0 else nullcontext():
            loss(model(x)).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def in_branches(model, loss, optimizer, loader):
    for i, x in enumerate(loader, start=1):
        if i % 4 != 0:
            with model.no_sync():
                loss(model(x)).backward()
        else:
            loss(model(x)).backward()
        if i % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()


def also_at_the_end(model, loss, optimizer, loader, every):
    last = len(loader) - 1
    for i, x in enumerate(loader):
        steps = (i + 1) % every == 0 or i == last
        with nullcontext() if steps else model.no_sync():
            loss(model(x)).backward()
        if steps:
            optimizer.step()
            optimizer.zero_grad()
