import torch
from torch.nn.parallel import DistributedDataParallel as DDP


def switch(module, on):
    for p in module.parameters():
        p.requires_grad_(on)


class Trainer:
    def __init__(self, critic):
        self.critic = DDP(critic)
        self.opt_c = torch.optim.Adam(self.critic.parameters())

    def critic_step(self, real, fake):
        judge = self.critic.module
        switch(judge, True)
        loss = judge(fake).mean() - judge(real).mean()
        loss.backward()
        self.opt_c.step()
