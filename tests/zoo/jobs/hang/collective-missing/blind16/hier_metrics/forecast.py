import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from topo import Topology, hier_mean

log = logging.getLogger("forecast")


def series(rank, step):
    g = torch.Generator().manual_seed(rank * 10000 + step)
    base = torch.randn(16, 1, generator=g)
    t = torch.arange(36) / 6.0
    x = torch.sin(t + base) + 0.05 * torch.randn(16, 36, generator=g)
    return x[:, :30], x[:, 30:]


def main():
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    topo = Topology()
    torch.manual_seed(1)
    net = DDP(nn.Sequential(nn.Linear(30, 64), nn.ReLU(), nn.Linear(64, 6)))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for step in range(200):
        x, y = series(topo.rank, step)
        loss = (net(x) - y).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 25 == 24:
            m = hier_mean(loss.detach().clone(), topo)
            if topo.rank == 0:
                log.info("step %d mse %.4f", step, m)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
