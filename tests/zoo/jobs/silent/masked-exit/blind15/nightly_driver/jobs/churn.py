import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from jobs.tables import load, standardise


class Net(nn.Module):
    def __init__(self, columns):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(columns, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, x):
        return self.layers(x).squeeze(1)


def train_segment(rank, world, segment, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    x, y = load(segment, rank, world)
    x = standardise(x)
    torch.manual_seed(1)
    model = DistributedDataParallel(Net(x.shape[1]))
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(6):
        for rows in torch.arange(len(x)).split(64):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
    if rank == 0:
        torch.save(model.module.state_dict(), f"models/{segment}.pt")
    print(f"{segment}/{rank}: loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()
