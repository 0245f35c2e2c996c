import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tracking.client import Tracker
from tracking.server import TrackingServer


class Module(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(7, 14), nn.SiLU(), nn.Linear(14, 7))

    def forward(self, x):
        return x + self.layers(x)


def make_tracker():
    if dist.get_rank() != 0:
        return None
    server = TrackingServer()
    server.start()
    return Tracker(server.port)


def main(steps=120):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model, tracker = DDP(Module()), make_tracker()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for step in range(steps):
        x = torch.randn(32, 7)
        loss = (model(x) - 2 * x).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if tracker is not None:
            tracker.log(step=step, loss=loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
