import torch


def train(g, d, loader, criterion):
    opt_g, opt_d = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    for real, z in loader:
        fake = g(z)
        opt_d.zero_grad()
        loss_d = criterion(d(real), 1.0) + criterion(d(fake.detach()), 0.0)
        loss_d.backward()
        opt_d.step()
        opt_g.zero_grad()
        loss_g = criterion(d(fake), 1.0)
        loss_g.backward()
        opt_g.step()
