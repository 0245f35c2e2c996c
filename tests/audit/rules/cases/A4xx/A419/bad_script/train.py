import itertools
import os

import torch
from loaders import make_loader


def main(path, batch_size):
    model = torch.nn.Linear(4, 1)
    step = 0
    loader = make_loader(start_index=step * batch_size)
    if os.path.exists(path):
        kept = torch.load(path)
        model.load_state_dict(kept["model"])
        step = kept["step"] + 1
    for at, x in enumerate(loader, start=step):
        model(x).mean().backward()
        torch.save({"model": model.state_dict(), "step": at}, path)


def shortened(path, loader):
    model = torch.nn.Linear(4, 1)
    done = 0
    rest = itertools.islice(loader, done, None)
    if os.path.exists(path):
        kept = torch.load(path)
        model.load_state_dict(kept["model"])
        done = kept["done"]
    for x in rest:
        model(x).mean().backward()
        done += 1
