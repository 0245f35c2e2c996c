"""The average's state is loaded into the model that is trained, to evaluate it."""

import copy

import torch
import torch.nn.functional as F


def accuracy(net, loader):
    net.eval()
    with torch.no_grad():
        return sum((net(x).argmax(1) == y).float().mean().item() for x, y in loader) / len(loader)


def train(net, loader, val_loader, optimizer, steps_between):
    ema_net = copy.deepcopy(net)
    step = 0
    while step < 100000:
        for x, y in loader:
            net.train()
            loss = F.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for mine, theirs in zip(ema_net.parameters(), net.parameters()):
                mine.data.lerp_(theirs.data, 0.001)
            step += 1
            if step % steps_between == 0:
                net.load_state_dict(ema_net.state_dict())
                print(step, accuracy(net, val_loader))
