import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Gan:
    def __init__(self):
        self.generator = self.build(torch.nn.Linear(4, 4))
        self.critic = torch.nn.Linear(4, 1)  # cause
        self.g_opt = torch.optim.Adam(self.generator.parameters())
        self.d_opt = torch.optim.Adam(self.critic.parameters())  # cause

    def build(self, net):
        return DDP(net)

    def step(self, x):
        self.d_opt.zero_grad()
        (self.critic(self.generator(x).detach()) - self.critic(x)).mean().backward()
        self.d_opt.step()
        self.g_opt.zero_grad()
        (-self.critic(self.generator(x))).mean().backward()
        self.g_opt.step()


def main():
    dist.init_process_group("gloo")
    gan = Gan()
    torch.manual_seed(dist.get_rank())
    for _ in range(10):
        gan.step(torch.randn(4, 4))
    dist.destroy_process_group()


main()
