import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from channels.sensor import Sensor
from channels.utils import Prefetch


class AutoEncoder(nn.Module):
    def __init__(self, bins=32, code=4):
        super().__init__()
        self.encode = nn.Linear(bins, code)
        self.decode = nn.Linear(code, bins)

    def forward(self, x):
        return self.decode(torch.relu(self.encode(x)))


def fit(model, stream):
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for i, frame in enumerate(stream):
        x = torch.tensor(frame)[None]
        loss = (model(x) - x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if i % 20 == 0 and dist.get_rank() == 0:
            print("frame", i, "loss", round(loss.item(), 4), flush=True)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    fit(DDP(AutoEncoder()), Prefetch(Sensor(dist.get_rank()).stream()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
