import torch
from torch import autograd


def penalty(critic, mixed):
    scores = critic(mixed.requires_grad_(True))
    gradients = autograd.grad(scores, mixed, torch.ones_like(scores), True, True)[0]
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def train(critic, loader):
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4)
    for real, fake in loader:
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty(critic, 0.5 * (real + fake))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


if __name__ == "__main__":
    from nets import critic, loader

    train(critic, loader)
