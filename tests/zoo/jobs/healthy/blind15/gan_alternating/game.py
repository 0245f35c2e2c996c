import torch
from torch import nn


def freeze(model, frozen):
    for p in model.parameters():
        p.requires_grad_(not frozen)


class Game:
    def __init__(self, gen, disc, lr, critics):
        self.gen, self.disc, self.critics = gen, disc, critics
        self.g_opt = torch.optim.Adam(gen.parameters(), lr, betas=(0.5, 0.9))
        self.d_opt = torch.optim.Adam(disc.parameters(), lr, betas=(0.5, 0.9))
        self.bce = nn.functional.binary_cross_entropy_with_logits

    def judge(self, real, z):
        freeze(self.disc, False)
        with torch.no_grad():
            fake = self.gen.module(z)
        out = self.disc(torch.cat([real, fake]))
        want = torch.cat([torch.full((len(real), 1), 0.9), torch.zeros(len(fake), 1)])
        loss = self.bce(out, want)
        self.d_opt.zero_grad()
        loss.backward()
        self.d_opt.step()
        return loss.item()

    def fool(self, z):
        freeze(self.disc, True)
        loss = self.bce(self.disc.module(self.gen(z)), torch.ones(len(z), 1))
        self.g_opt.zero_grad()
        loss.backward()
        self.g_opt.step()
        return loss.item()
