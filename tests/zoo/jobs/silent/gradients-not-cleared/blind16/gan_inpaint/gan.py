import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Side:
    def __init__(self, net, lr):
        self.net = DDP(net)
        self.opt = torch.optim.SGD(self.net.parameters(), lr=lr)

    def apply(self, loss):
        loss.backward()
        self.opt.step()
        self.opt.zero_grad()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    gen = Side(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 6)), 0.02)
    dis = Side(nn.Sequential(nn.Linear(6, 32), nn.ReLU(), nn.Linear(32, 1)), 0.02)
    g = torch.Generator().manual_seed(rank)
    for step in range(120):
        real = torch.randn(32, 6, generator=g) * 0.5 + 1
        fake = gen.net(torch.randn(32, 8, generator=g))
        gen.apply(F.softplus(-dis.net(fake)).mean())
        carried = sum(p.grad.abs().sum().item() for p in dis.net.parameters() if p.grad is not None)
        logits = dis.net(torch.cat([real, fake.detach()]))
        target = torch.cat([torch.ones(32, 1), torch.zeros(32, 1)])
        dis.apply(F.binary_cross_entropy_with_logits(logits, target))
        if rank == 0 and step % 30 == 0:
            print("step", step, "g-norm", round(carried, 4), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
