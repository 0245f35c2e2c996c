import argparse

import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from downscale.distributed import init
from downscale.fields import loaders
from downscale.network import Downscaler


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", required=True)
    with open(p.parse_args().config) as handle:
        cfg = yaml.safe_load(handle)
    rank, world = init(cfg["distributed"])
    loader = loaders(cfg["data"], rank, world)
    torch.manual_seed(cfg["data"]["seed"])
    model = DDP(Downscaler(cfg["data"]["factor"], cfg["model"]["width"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["optim"]["lr"])
    for epoch in range(cfg["optim"]["epochs"]):
        loader.sampler.set_epoch(epoch)
        for coarse, fine in loader:
            loss = F.l1_loss(model(coarse), fine)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
