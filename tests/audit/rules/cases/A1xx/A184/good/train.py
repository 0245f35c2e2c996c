import itertools
import random

import torch
from torch.utils.data import DataLoader


def endless(rows):
    while True:
        for row in rows:
            yield row


def drawn(rows):
    while True:
        random.shuffle(rows)
        yield from rows


class Kept:
    def __init__(self, rows, batches):
        self.batches = batches
        self.stream = endless(rows)

    def __iter__(self):
        stream = self.stream
        for _ in range(self.batches):
            yield next(stream)


class Drawn:
    def __init__(self, rows, batches):
        self.rows, self.batches = rows, batches

    def __iter__(self):
        stream = drawn(self.rows)
        for _ in range(self.batches):
            yield next(stream)


class Whole:
    """Ends where the data ends."""

    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        rows = iter(self.rows)
        for _ in range(len(self.rows)):
            yield next(rows)


def main(model, optimizer, data, epochs, steps):
    rows = [torch.full((4, 8), float(i)) for i in range(1000)]
    shuffled = DataLoader(data, batch_size=4, shuffle=True)
    going_on = endless(rows)
    for epoch in range(epochs):
        for loader in (Kept(rows, 10), Drawn(rows, 10), Whole(rows)):
            for batch in loader:
                optimizer.zero_grad()
                model(batch).mean().backward()
                optimizer.step()
        for batch in itertools.islice(itertools.cycle(shuffled), steps):
            model(batch).mean().backward()
        for batch in itertools.islice(going_on, steps):
            model(batch).mean().backward()
    kept = Kept(rows, 10)
    for epoch in range(epochs):
        for batch in kept:
            model(batch).mean().backward()
