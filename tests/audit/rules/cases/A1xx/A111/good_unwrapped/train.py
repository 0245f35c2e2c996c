import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tools import unwrap


def train(model, batches):
    net = unwrap(model)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x, y in batches:
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        print(net(x).mean())


def main(batches):
    train(DDP(nn.Linear(2, 2)), batches)
