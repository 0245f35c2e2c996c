import datetime
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from preview import Ema, spread_reached


def network():
    return nn.Sequential(nn.Linear(3, 256), nn.SiLU(), nn.Linear(256, 256), nn.SiLU(), nn.Linear(256, 256),
                         nn.SiLU(), nn.Linear(256, 2))


def ring(n, generator, device):
    angle = 2 * torch.pi * torch.rand(n, generator=generator, device=device)
    return 2 * torch.stack([angle.cos(), angle.sin()], 1)


class FlowTrainer:
    def __init__(self, device):
        self.device = device
        self.rank = dist.get_rank()
        torch.manual_seed(5)
        net = network().to(device)
        self.ema = Ema(net)
        self.model = DDP(net, device_ids=[device.index])
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=1e-3)
        self.generator = torch.Generator(device=device).manual_seed(1000 + self.rank)

    def step(self, batch=2048):
        data = ring(batch, self.generator, self.device)
        noise = torch.randn(batch, 2, device=self.device, generator=self.generator)
        t = torch.rand(batch, 1, device=self.device, generator=self.generator)
        velocity = self.model(torch.cat([(1 - t) * data + t * noise, t], 1))
        loss = (velocity - (noise - data)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.ema.update(self.model.module)
        return loss

    def fit(self, steps, look_every, limit):
        for i in range(1, steps + 1):
            loss = self.step()
            if self.rank == 0 and i % 100 == 0:
                print(i, loss.item())
            if i % look_every == 0 and spread_reached(self.ema, limit, self.device):
                break
        if self.rank == 0:
            torch.save(self.ema.model.state_dict(), "flow.pt")


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", timeout=datetime.timedelta(hours=2))
    FlowTrainer(torch.device("cuda", local)).fit(50000, 1000, 0.05)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
