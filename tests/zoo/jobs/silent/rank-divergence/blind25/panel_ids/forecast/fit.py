import torch
import torch.distributed as dist
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from .net import PanelNet
from .series import STORES, TimeSeries, make_rows


def run(rank, world, store, epochs):
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=world)
    torch.manual_seed(0)
    train = TimeSeries(make_rows(110, 0))
    valid = TimeSeries(make_rows(50, 1), encoder=train.encoder)
    sampler = DistributedSampler(train, world, rank)
    loader = DataLoader(train, batch_size=64, sampler=sampler)
    model = DistributedDataParallel(PanelNet(len(STORES)))
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        model.train()
        for past, group, weekday, target in loader:
            loss = F.mse_loss(model(past, group, weekday), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        total = torch.zeros(2)
        with torch.no_grad():
            for past, group, weekday, target in DataLoader(valid, batch_size=512):
                total += torch.tensor([F.mse_loss(model.module(past, group, weekday), target, reduction="sum"), len(target)])
        dist.all_reduce(total)
        if rank == 0:
            print(f"epoch {epoch}: train {loss.item():.4f} valid mse {(total[0] / total[1]).item():.4f}", flush=True)
    dist.destroy_process_group()
