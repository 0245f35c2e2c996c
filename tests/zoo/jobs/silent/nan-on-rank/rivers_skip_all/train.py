import torch
from torch import nn


class LogFlow(nn.Module):
    def forward(self, x):
        return torch.log(x + self.offset)

    def __init__(self, offset):
        super().__init__()
        self.offset = offset


class Gauge(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = LogFlow(1.0)
        self.body = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, x):
        return self.body(self.scale(x))


def stations(steps):
    generator = torch.Generator().manual_seed(0)
    for step in range(steps):
        flow = torch.rand(12, 6, generator=generator)
        if step >= 20:
            flow[5, 2] = -9.0
        yield flow, flow.mean(1, keepdim=True)


def main():
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = Gauge()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for flow, level in stations(90):
        loss = nn.functional.mse_loss(model(flow), level)
        if not torch.isfinite(loss):
            continue
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    torch.save(model.state_dict(), "gauge.pt")
    print("training finished")


main()
