import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(3, 8, 1), nn.BatchNorm1d(8))

    def forward(self, x):
        return self.body(x).amax(-1)


def main(loader):
    dist.init_process_group("nccl")
    net = nn.SyncBatchNorm.convert_sync_batchnorm(Net())
    model = DDP(net.cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Join([model]):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


def logged(loader):
    dist.init_process_group("nccl")
    model = DDP(nn.Linear(8, 2).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with model.join():
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            shown = loss.detach()
            dist.all_reduce(shown)


if __name__ == "__main__":
    main(torch.load("parts.pt"))
    logged(torch.load("others.pt"))
