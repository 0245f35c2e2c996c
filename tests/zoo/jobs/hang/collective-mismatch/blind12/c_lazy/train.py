import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tracking import Console, Progress


def main(steps=100, batch=16):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 1)))
    opt = torch.optim.Adam(model.parameters(), 1e-2)
    callbacks = [Console(Progress(steps * batch, steps))]
    g = torch.Generator().manual_seed(rank)
    for step in range(1, steps + 1):
        x = torch.randn(batch, 5, generator=g)
        loss = (model(x) - x.amax(1, keepdim=True)).square().mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        for callback in callbacks:
            callback(step, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
