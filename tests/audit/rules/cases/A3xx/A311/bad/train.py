"""Steps in rounds that no_sync() keeps local: the tests are off by one, in three ways of writing them."""
from contextlib import nullcontext


def in_one_line(model, loss, optimizer, loader, every):
    for i, x in enumerate(loader):
        with model.no_sync() if i % every != 0 else nullcontext():
            loss(model(x)).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def by_name(model, loss, optimizer, loader, every, distributed):
    for i, x in enumerate(loader):
        context = nullcontext
        if distributed:
            context = model.no_sync if i % every != 0 else context
        with context():
            loss(model(x)).backward()
        if (i + 1) % every == 0:
            optimizer.step()
            optimizer.zero_grad()


def in_branches(model, loss, optimizer, loader):
    for i, x in enumerate(loader, start=1):
        if (i + 1) % 4 != 0:
            with model.no_sync():
                loss(model(x)).backward()
        else:
            loss(model(x)).backward()
        if i % 4 == 0:
            optimizer.step()
            optimizer.zero_grad()
