from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def train(batches, optimizer, every=4):
    net = DDP(nn.Linear(8, 8), static_graph=True)
    for number, batch in enumerate(batches, 1):
        last = number % every == 0
        if not last:
            with net.no_sync():
                net(batch).sum().backward()
        else:
            net(batch).sum().backward()
            optimizer.step()
