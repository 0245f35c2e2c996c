import argparse
import random

import numpy as np
import torch


def set_seed(seed):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def validate(model, loader, args):
    set_seed(args.seed)
    return sum(model(batch).item() for batch in loader)


def train_epoch(model, loader, optimizer):
    for batch in loader:
        model(batch).backward()
        optimizer.step()


def main(model, loader, optimizer):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    set_seed(args.seed)
    for epoch in range(10):
        train_epoch(model, loader, optimizer)
        print(validate(model, loader, args))
