from contextlib import nullcontext

from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(batches, every):
    net = DDP(nn.Linear(8, 8), static_graph=True)
    for number, batch in enumerate(batches):
        with nullcontext() if number % every == 0 else net.no_sync():
            net(batch).sum().backward()
