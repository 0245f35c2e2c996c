import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv1d(3, 8, 1), nn.GroupNorm(2, 8))

    def forward(self, x):
        return self.body(x).amax(-1)


def main(loader):
    dist.init_process_group("nccl")
    model = DDP(Net().cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    seen = torch.zeros(1)
    with Join([model]):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
            seen += len(y)
    dist.all_reduce(seen)


def stops_together(loader):
    dist.init_process_group("nccl")
    model = DDP(nn.SyncBatchNorm.convert_sync_batchnorm(Net()).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with Join([model], throw_on_early_termination=True):
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()


if __name__ == "__main__":
    main(torch.load("parts.pt"))
    stops_together(torch.load("others.pt"))
