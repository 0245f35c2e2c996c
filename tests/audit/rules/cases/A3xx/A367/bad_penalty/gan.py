import torch
from torch import autograd, nn


def penalty(critic, real, fake):
    alpha = torch.rand(real.size(0), 1, 1, 1, device=real.device)
    mixed = (alpha * real + (1 - alpha) * fake.detach()).requires_grad_(True)
    scores = critic(mixed)
    gradients = autograd.grad(
        outputs=scores, inputs=mixed, grad_outputs=torch.ones_like(scores), retain_graph=True, create_graph=False
    )[0]
    gradients = gradients.view(gradients.size(0), -1)
    return ((gradients.norm(2, dim=1) - 1) ** 2).mean()


def train(critic, generator, loader, latent=64):
    optimizer = torch.optim.Adam(critic.parameters(), lr=1e-4, betas=(0.0, 0.9))
    for real, _ in loader:
        fake = generator(torch.randn(len(real), latent))
        loss = critic(fake.detach()).mean() - critic(real).mean() + 10 * penalty(critic, real, fake)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


critic = nn.Sequential(nn.Conv2d(3, 64, 4, 2, 1), nn.LeakyReLU(0.2), nn.Flatten(), nn.LazyLinear(1))
generator = nn.Sequential(nn.Linear(64, 3 * 32 * 32), nn.Unflatten(1, (3, 32, 32)))
if __name__ == "__main__":
    from images import loader

    train(critic, generator, loader)
