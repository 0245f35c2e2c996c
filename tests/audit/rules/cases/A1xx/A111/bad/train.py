import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def train(net, batches, criterion):
    ddp = DDP(net)
    optimizer = torch.optim.SGD(ddp.parameters(), lr=0.1)
    for x, y in batches:
        prediction = ddp.module(x)
        loss = criterion(prediction, y)
        loss.backward()
        optimizer.step()
