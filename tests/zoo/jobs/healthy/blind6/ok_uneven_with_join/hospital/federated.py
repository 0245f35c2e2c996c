import time

import torch
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel


class Site:
    """What one hospital has; the third one has a third of the scans of the first, and a slow disk."""

    def __init__(self, rank):
        self.rank = rank
        self.batches = (24, 17, 8)[rank]
        self.delay = (0.0, 0.02, 0.1)[rank]

    def __iter__(self):
        for _ in range(self.batches):
            time.sleep(self.delay)
            yield torch.randn(8, 6)


def train_together(site, epochs):
    model = DistributedDataParallel(nn.Linear(6, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
    for epoch in range(epochs):
        with Join([model]):
            for x in site:
                optimizer.zero_grad()
                loss = (model(x) - x.sum(1, keepdim=True)).square().mean()
                loss.backward()
                optimizer.step()
        print(f"site {site.rank} epoch {epoch} loss {loss.item():.4f}", flush=True)
    return model
