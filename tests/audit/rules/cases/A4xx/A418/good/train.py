import sys

import torch
from accelerate import Accelerator
from helpers import with_hooks
from torch import nn
from torch.utils.data import DataLoader


def plain():
    accelerator = Accelerator()
    model = nn.Linear(4, 4)
    optimizer = torch.optim.AdamW(model.parameters())
    loader = DataLoader(torch.load("data.pt"), 8)
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    if len(sys.argv) > 1:
        accelerator.load_state(sys.argv[1])
    test = accelerator.prepare(DataLoader(torch.load("test.pt"), 8))
    return model, test


def one_or_the_other(path):
    accelerator = Accelerator()
    model = nn.Linear(4, 4)
    if path:
        accelerator.load_state(path)
    else:
        model = accelerator.prepare(model)
    return model


def registered(model):
    accelerator = Accelerator()
    accelerator.register_for_checkpointing(model)
    accelerator.load_state("last")
    return accelerator.prepare(model)


def hooked(model):
    accelerator = Accelerator()

    def load(models, folder):
        model.load_state_dict(torch.load(folder + "/own.pt"))

    accelerator.register_load_state_pre_hook(load)
    accelerator.load_state("last")
    return accelerator.prepare(model)


def elsewhere(model):
    accelerator = Accelerator()
    with_hooks(accelerator, model)
    accelerator.load_state("last")
    return accelerator.prepare(torch.optim.SGD(model.parameters()))


def of_another(model, kept):
    accelerator = Accelerator()
    kept.load_state("last")
    return accelerator.prepare(model)


if __name__ == "__main__":
    plain()
    one_or_the_other(sys.argv[-1])
    registered(nn.Linear(4, 4))
    hooked(nn.Linear(4, 4))
    elsewhere(nn.Linear(4, 4))
    of_another(nn.Linear(4, 4), torch.load("kept.pt"))
