import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from callbacks import Probe


def mlp(h, p):
    return nn.Sequential(nn.Linear(16, h), nn.BatchNorm1d(h), nn.ReLU(), nn.Dropout(p), nn.Linear(h, 4))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    teacher, net = mlp(64, 0.0).eval(), DDP(mlp(24, 0.3))
    g = torch.Generator().manual_seed(dist.get_rank())
    x = torch.randn(64, 16)
    probe = Probe(40, x, teacher(x).argmax(1))
    opt = torch.optim.Adam(net.parameters(), lr=3e-3)
    net.train()
    for step in range(1, 141):
        xb = torch.randn(32, 16, generator=g)
        with torch.no_grad():
            soft = teacher(xb).softmax(-1)
        loss = F.kl_div(net(xb).log_softmax(-1), soft, reduction="batchmean")
        opt.zero_grad()
        loss.backward()
        opt.step()
        probe.after_step(net, step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
