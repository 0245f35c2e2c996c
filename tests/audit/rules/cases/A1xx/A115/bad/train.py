import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import Critic, Generator


def main():
    dist.init_process_group("nccl")
    generator, critic = Generator().cuda(), Critic().cuda()
    generator = DDP(generator)
    opt_g = torch.optim.Adam(generator.parameters())
    opt_c = torch.optim.Adam(critic.parameters())
    for z, real in batches():
        opt_c.zero_grad()
        (critic(generator(z).detach()).mean() - critic(real).mean()).backward()
        opt_c.step()
        opt_g.zero_grad()
        (-critic(generator(z)).mean()).backward()
        opt_g.step()
