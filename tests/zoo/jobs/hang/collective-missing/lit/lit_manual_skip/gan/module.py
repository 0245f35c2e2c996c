import lightning as L
import torch
from torch import nn


class SignalGAN(L.LightningModule):
    def __init__(self, noise=4, length=32):
        super().__init__()
        self.automatic_optimization = False
        self.noise = noise
        self.generator = nn.Sequential(nn.Linear(noise, 32), nn.ReLU(), nn.Linear(32, length))
        self.critic = nn.Sequential(nn.Linear(length, 32), nn.LeakyReLU(0.2), nn.Linear(32, 1))

    def training_step(self, batch, index):
        signal, usable = batch
        signal = signal[usable]
        if len(signal) == 0:
            return
        opt_g, opt_c = self.optimizers()
        fake = self.generator(torch.randn(len(signal), self.noise))

        critic_loss = self.critic(fake.detach()).mean() - self.critic(signal).mean()
        opt_c.zero_grad()
        self.manual_backward(critic_loss + 0.0 * fake.sum())
        opt_c.step()

    def on_train_epoch_end(self):
        opt_g, _ = self.optimizers()
        self.generator_step(opt_g)

    def generator_step(self, opt_g):
        opt_g.zero_grad()
        with torch.enable_grad():
            loss = -self.critic(self.generator(torch.randn(16, self.noise))).mean()
            loss.backward()
        for p in self.generator.parameters():
            p.grad = self.all_gather(p.grad).mean(0)
        opt_g.step()

    def configure_optimizers(self):
        return torch.optim.Adam(self.generator.parameters(), lr=1e-3), torch.optim.Adam(self.critic.parameters(), lr=1e-3)
