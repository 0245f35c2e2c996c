import torch
import torch.nn.functional as F


class Trainer:
    def __init__(self, gen, dis):
        self.gen, self.dis = gen, dis
        self.opt_g = torch.optim.Adam(self.gen.parameters())
        self.opt_d = torch.optim.Adam(self.dis.parameters())

    def discriminator_step(self, real, fake):
        self.opt_d.zero_grad()
        real_score, fake_score = self.dis(torch.cat([real, fake])).chunk(2)
        loss = F.relu(1.0 - real_score).mean() + F.relu(1.0 + fake_score).mean()
        loss.backward()
        self.opt_d.step()
        return loss.item()

    def generator_step(self, real, fake):
        self.opt_g.zero_grad()
        loss = F.l1_loss(fake, real) - self.dis(fake).mean()
        loss.backward()
        self.opt_g.step()
        return loss.item()

    def fit(self, loader, epochs):
        for epoch in range(epochs):
            for low, real in loader:
                fake = self.gen(low)
                if epoch >= 5:
                    self.discriminator_step(real, fake)
                fake = self.gen(low)
                self.generator_step(real, fake)
