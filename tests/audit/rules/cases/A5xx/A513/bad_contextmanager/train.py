import contextlib

import torch


@contextlib.contextmanager
def reported(log):
    try:
        yield
    except (RuntimeError, torch.cuda.OutOfMemoryError) as error:
        print(f"failed: {error}", file=log)


def train(model, loader, optimizer, log):
    with reported(log):
        for inputs, targets in loader:
            model(inputs, targets).backward()
            optimizer.step()
    torch.save(model.state_dict(), "model.pt")
