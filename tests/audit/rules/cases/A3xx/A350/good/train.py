"""Steps of several optimizers that take what they should."""
import torch
from torch import nn
from torch.nn import functional as F


def dcgan(loader):
    netG, netD = nn.Linear(8, 4), nn.Linear(4, 1)
    optimizerG = torch.optim.Adam(netG.parameters())
    optimizerD = torch.optim.Adam(netD.parameters())
    for real in loader:
        netD.zero_grad()
        errD_real = F.softplus(-netD(real)).mean()
        errD_real.backward()
        fake = netG(torch.randn(8))
        errD_fake = F.softplus(netD(fake.detach())).mean()
        errD_fake.backward()
        optimizerD.step()
        netG.zero_grad()
        errG = F.softplus(-netD(fake)).mean()
        errG.backward()
        optimizerG.step()


def frozen(loader):
    netG, netD = nn.Linear(8, 4), nn.Linear(4, 1)
    optimizerG = torch.optim.Adam(netG.parameters())
    optimizerD = torch.optim.Adam(netD.parameters())
    for real in loader:
        for one in netD.parameters():
            one.requires_grad = False
        netD(netG(real)).mean().backward()
        optimizerG.step()
        optimizerG.zero_grad()
        for one in netD.parameters():
            one.requires_grad = True
        netD(real).mean().backward()
        optimizerD.step()
        optimizerD.zero_grad()


def shared(loader):
    """Both losses are meant for the encoder."""
    encoder, first, second = nn.Linear(4, 4), nn.Linear(4, 1), nn.Linear(4, 1)
    of_encoder = torch.optim.Adam(encoder.parameters())
    of_first = torch.optim.Adam(first.parameters())
    of_second = torch.optim.Adam(second.parameters())
    for batch in loader:
        of_encoder.zero_grad()
        of_first.zero_grad()
        of_second.zero_grad()
        first(encoder(batch)).mean().backward()
        of_first.step()
        second(encoder(batch)).mean().backward()
        of_second.step()
        of_encoder.step()


def apart(loader):
    """Neither loss goes through the other's model."""
    one, other = nn.Linear(4, 4), nn.Linear(4, 4)
    of_one, of_other = torch.optim.SGD(one.parameters()), torch.optim.SGD(other.parameters())
    for batch in loader:
        one(batch).mean().backward()
        of_one.step()
        of_one.zero_grad()
        other(one(batch).detach()).mean().backward()
        of_other.step()
        of_other.zero_grad()


def summed(loader):
    """One pass, two optimizers."""
    one, other = nn.Linear(4, 4), nn.Linear(4, 4)
    of_one, of_other = torch.optim.SGD(one.parameters()), torch.optim.SGD(other.parameters())
    for batch in loader:
        other(one(batch)).mean().backward()
        for each in (of_one, of_other):
            each.step()
        for each in (of_one, of_other):
            each.zero_grad()


def sac(buffer):
    actor, critic = nn.Linear(4, 4), nn.Linear(4, 1)
    actor_optimizer, critic_optimizer = torch.optim.Adam(actor.parameters()), torch.optim.Adam(critic.parameters())
    for state, action, target in buffer:
        loss = F.mse_loss(critic(action), target)
        critic_optimizer.zero_grad()
        loss.backward()
        critic_optimizer.step()
        actor_loss = -critic(actor(state)).mean()
        actor_optimizer.zero_grad()
        actor_loss.backward()
        actor_optimizer.step()


def by_hand(loader):
    netG, netD = nn.Linear(8, 4), nn.Linear(4, 1)
    optimizerG = torch.optim.Adam(netG.parameters())
    optimizerD = torch.optim.Adam(netD.parameters())
    for real in loader:
        netD(real).mean().backward()
        optimizerD.step()
        optimizerD.zero_grad()
        netD(netG(real)).mean().backward(inputs=list(netG.parameters()))
        optimizerG.step()
        optimizerG.zero_grad()


if __name__ == "__main__":
    data = torch.load("data.pt")
    dcgan(data)
    shared(data)
    apart(data)
    summed(data)
    sac(data)
    by_hand(data)
