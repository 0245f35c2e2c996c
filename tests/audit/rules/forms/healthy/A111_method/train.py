import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Learner:
    def __init__(self, net):
        self.net = DDP(net)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    @property
    def core(self):
        return self.net.module

    def loss(self, x, y):
        return (self.net(x) - y).pow(2).mean()

    def step(self, x, y):
        self.optimizer.zero_grad()
        self.loss(x, y).backward()
        self.optimizer.step()


def main():
    dist.init_process_group("gloo")
    learner = Learner(torch.nn.Linear(4, 1))
    torch.manual_seed(dist.get_rank())
    for _ in range(10):
        learner.step(torch.randn(2, 4), torch.randn(2, 1))
    dist.destroy_process_group()


main()
