import os

import torch
from loaders import make_loader


def main(path, batch_size):
    model = torch.nn.Linear(4, 1)
    step = 0
    if os.path.exists(path):
        kept = torch.load(path)
        model.load_state_dict(kept["model"])
        step = kept["step"] + 1
    loader = make_loader(start_index=step * batch_size)
    for at, x in enumerate(loader, start=step):
        model(x).mean().backward()
        torch.save({"model": model.state_dict(), "step": at}, path)

