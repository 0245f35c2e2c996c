import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from loaders import begin_epoch, make


def main():
    dist.init_process_group("gloo")
    loader = make(800, 16)
    torch.manual_seed(0)
    net = DDP(nn.Linear(9, 1))
    opt = torch.optim.SGD(net.parameters(), lr=0.02)
    for epoch in range(4):
        begin_epoch(loader, epoch)
        first = None
        for idx, x, y in loader:
            first = idx[:4].tolist() if first is None else first
            loss = (net(x).squeeze(1) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch, "loss", round(loss.item(), 4), "head", first, flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
