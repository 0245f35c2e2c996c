"""A discriminator, a critic and an encoder that keep gradients of somebody else's loss."""
import torch
from torch import nn
from torch.nn import functional as F


def gan(loader):
    netG, netD = nn.Linear(8, 4), nn.Linear(4, 1)
    optG = torch.optim.Adam(netG.parameters(), lr=2e-4)
    optD = torch.optim.Adam(netD.parameters(), lr=2e-4)
    for real in loader:
        optG.zero_grad()
        optD.zero_grad()
        fake = netG(torch.randn(len(real), 8))
        g_loss = F.softplus(-netD(fake)).mean()
        g_loss.backward()
        optG.step()
        d_loss = F.softplus(netD(fake.detach())).mean() + F.softplus(-netD(real)).mean()
        d_loss.backward()
        optD.step()


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, state):
        return self.out(state).tanh()


class Critic(Actor):
    def forward(self, state, action):
        return self.out(state) + action


def ddpg(buffer):
    actor, critic = Actor(), Critic()
    actor_optimizer = torch.optim.Adam(actor.parameters())
    critic_optimizer = torch.optim.Adam(critic.parameters())
    for state, action, target in buffer:
        critic_loss = F.mse_loss(critic(state, action), target)
        critic_loss.backward()
        critic_optimizer.step()
        critic_optimizer.zero_grad()
        actor_loss = -critic(state, actor(state)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()


def scaled(loader):
    netG, netD = nn.Linear(8, 4), nn.Linear(4, 1)
    scaler = torch.amp.GradScaler()
    optG = torch.optim.Adam(netG.parameters())
    optD = torch.optim.Adam(netD.parameters())
    for real in loader:
        for _ in range(5):
            with torch.no_grad():
                fake = netG(torch.randn(8))
            loss = netD(fake).mean() - netD(real).mean()
            scaler.scale(loss).backward()
            scaler.step(optD)
            scaler.update()
            netD.zero_grad()
        loss = -netD(netG(torch.randn(8))).mean()
        scaler.scale(loss).backward()
        scaler.step(optG)
        scaler.update()
        optG.zero_grad()


if __name__ == "__main__":
    gan(torch.load("data.pt"))
    ddpg(torch.load("buffer.pt"))
    scaled(torch.load("data.pt"))
