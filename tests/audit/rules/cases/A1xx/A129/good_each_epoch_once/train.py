import itertools

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def step(model, optimizer, batch, accelerator):
    loss = model(**batch).loss
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()


def by_epoch(model, data, args):
    accelerator = Accelerator()
    loader = DataLoader(data, batch_size=4, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    model, optimizer, loader = accelerator.prepare(model, optimizer, loader)
    first_epoch, done = 0, None
    if args.resume_from:
        state = torch.load(args.resume_from + "/state.pt", weights_only=True)
        first_epoch, done = state["epoch"], state["batches"]
    for epoch in range(first_epoch, args.epochs):
        batches = loader
        if args.resume_from and epoch == first_epoch and done is not None:
            batches = accelerator.skip_first_batches(loader, done)
        for batch in batches:
            step(model, optimizer, batch, accelerator)


def set_back(model, data, args):
    accelerator = Accelerator()
    loader = DataLoader(data, batch_size=4, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    state = torch.load(args.resume_from, weights_only=True)
    done = state["step"] % len(loader)
    for _ in range(args.epochs):
        for batch in itertools.islice(loader, done, None):
            step(model, optimizer, batch, accelerator)
        done = 0


def chosen(model, data, args):
    accelerator = Accelerator()
    loader = DataLoader(data, batch_size=4, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters())
    state = torch.load(args.resume_from, weights_only=True)
    for epoch in range(state["epoch"], args.epochs):
        first = state["batches"] if epoch == state["epoch"] else 0
        for batch in itertools.islice(loader, first, None):
            step(model, optimizer, batch, accelerator)


def sets(model, parts, args):
    accelerator = Accelerator()
    optimizer = torch.optim.AdamW(model.parameters())
    state = torch.load(args.resume_from, weights_only=True)
    for part in parts:
        loader = DataLoader(part, batch_size=4)
        for batch in itertools.islice(loader, state["skipped"][part.name], None):
            step(model, optimizer, batch, accelerator)


class Trainer:
    def __init__(self, model, data, path):
        self.model = model
        self.loader = DataLoader(data, batch_size=8)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        state = torch.load(path, weights_only=True)
        self.epoch, self.skip = state["epoch"], state["batch"]

    def batches(self):
        skip, self.skip = self.skip, 0
        return itertools.islice(self.loader, skip, None) if skip else self.loader

    def fit(self, epochs):
        while self.epoch < epochs:
            for x in self.batches():
                self.model(x).sum().backward()
                self.optimizer.step()
            self.epoch += 1


def main(model, data, args):
    by_epoch(model, data, args)
    set_back(model, data, args)
    chosen(model, data, args)
    sets(model, data, args)
    Trainer(model, data, args.resume_from).fit(10)
