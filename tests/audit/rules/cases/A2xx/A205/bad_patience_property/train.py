import torch
from torch.nn.parallel import DistributedDataParallel as DDP

from patience import Patience


@torch.no_grad()
def accuracy(model, loader):
    hits = torch.zeros(2)
    for x, y in loader:
        hits += torch.tensor([(model(x).argmax(1) == y).sum(), len(y)])
    return (hits[0] / hits[1]).item()


def main(net, loader, valid_loader, optimizer):
    model = DDP(net)
    patience = Patience()
    for _ in range(60):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        patience.after(accuracy(model, valid_loader))
        if patience.exhausted:
            break
