import torch
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


def switch(module, on):
    for p in module.parameters():
        p.requires_grad_(on)


class Trainer:
    def __init__(self, generator, critic):
        self.generator = DDP(generator)
        self.critic = DDP(critic)
        self.opt_g = torch.optim.Adam(self.generator.parameters())
        self.opt_c = torch.optim.Adam(self.critic.parameters())

    def through_a_name(self, low):
        judge = self.critic.module
        switch(judge, False)
        score = judge(self.generator(low))
        score.mean().backward()
        self.opt_g.step()
        switch(judge, True)

    def in_a_loop(self, low):
        for weight in self.critic.parameters():
            weight.requires_grad = False
        score = self.critic.module(self.generator(low))
        F.softplus(-score).mean().backward()
        self.opt_g.step()

    def as_a_whole(self, low):
        inner = self.critic.module
        inner.requires_grad_(False)
        loss = -inner(self.generator(low)).mean()
        loss.backward()
        self.opt_g.step()
