import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU())
        self.head = nn.Linear(64, 8)

    def forward(self, x):
        return self.head(self.body(x))


class Thaw:
    def __init__(self, layers, at):
        self.waiting = dict(enumerate(reversed(layers)))
        self.at = at

    def freeze(self):
        for layer in self.waiting.values():
            for p in layer.parameters():
                p.requires_grad = False

    def __call__(self, epoch):
        layer = self.waiting.get(epoch - self.at)
        if layer is not None:
            for p in layer.parameters():
                p.requires_grad = True


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    net = Net().to(device)
    thaw = Thaw(list(net.body), 3)
    thaw.freeze()
    torch.manual_seed(dist.get_rank())
    for epoch in range(30):
        thaw(epoch)
        model = DDP(net, device_ids=[device.index])
        opt = torch.optim.SGD(net.parameters(), lr=0.1)
        for _ in range(100):
            opt.zero_grad(set_to_none=True)
            model(torch.randn(32, 64, device=device)).square().mean().backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
