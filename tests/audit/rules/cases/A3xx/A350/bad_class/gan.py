import torch
from torch import nn


class GAN:
    def __init__(self):
        self.netG = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 4))
        self.netD = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 1))
        self.optimizerG = torch.optim.Adam(self.netG.parameters())
        self.optimizerD = torch.optim.Adam(self.netD.parameters())
        self.criterion = nn.BCEWithLogitsLoss()

    def discriminator_step(self, real):
        fake = self.netG(torch.randn(len(real), 8)).detach()
        on_real, on_fake = self.netD(real), self.netD(fake)
        loss = self.criterion(on_real, torch.ones_like(on_real)) + self.criterion(on_fake, torch.zeros_like(on_fake))
        loss.backward()
        self.optimizerD.step()
        self.optimizerD.zero_grad()
        return loss.item()

    def generator_step(self, count):
        self.optimizerG.zero_grad()
        on_fake = self.netD(self.netG(torch.randn(count, 8)))
        loss = self.criterion(on_fake, torch.ones_like(on_fake))
        loss.backward()
        self.optimizerG.step()
        return loss.item()
