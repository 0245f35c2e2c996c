import os

import torch
import torch.distributed as dist
import yaml
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from latents.clips import ClipCatalog
from latents.dataset import LatentWindows, verify_share
from latents.index import load_index
from latents.model import TemporalMixer


def index_path(cfg):
    run = os.environ.get("TORCHELASTIC_RUN_ID", "local")
    return os.path.join("runs", run, f"windows-{cfg['window']}.json")


def main():
    with open("config.yaml") as handle:
        cfg = yaml.safe_load(handle)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    catalog = ClipCatalog(seed=cfg["seed"], **cfg["catalog"])
    if cfg["verify"]:
        verify_share(catalog, rank, world)
    table = load_index(catalog, cfg["window"], index_path(cfg))
    dataset = LatentWindows(catalog, table, cfg["window"])
    sampler = DistributedSampler(dataset, world, rank, seed=cfg["seed"])
    loader = DataLoader(dataset, cfg["batch_size"], sampler=sampler, drop_last=True)
    torch.manual_seed(cfg["seed"])
    model = DDP(TemporalMixer(catalog.dim, cfg["hidden"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for inputs, targets in loader:
            loss = F.mse_loss(model(inputs), targets)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.5f} ({len(table)} windows)", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
