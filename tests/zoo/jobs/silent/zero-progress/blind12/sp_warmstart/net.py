import torch
from torch import nn


class SeriesNet(nn.Module):
    def __init__(self, width=48, window=24):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(window, width), nn.GELU(), nn.Linear(width, width), nn.GELU())
        self.head = nn.Linear(width, 1)

    def forward(self, x):
        return self.head(self.encoder(x))


def pretrain_autoencoder(series, path, steps=80):
    net = SeriesNet()
    decoder = nn.Linear(48, 24)
    opt = torch.optim.Adam([*net.encoder.parameters(), *decoder.parameters()], lr=2e-3)
    for i in range(steps):
        idx = torch.randint(0, len(series), (64,))
        loss = (decoder(net.encoder(series[idx])) - series[idx]).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    torch.save(net.state_dict(), path)


def restore(net, path):
    weights = torch.load(path, map_location="cpu", mmap=True, weights_only=True)
    report = net.load_state_dict(weights, assign=True)
    print("restored", len(weights), "tensors:", report)
    return net
