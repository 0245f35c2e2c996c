import os
import pathlib
import shutil
import tempfile
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F
import yaml
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from frames.archive import write_archive
from frames.forecast import ForecastDataset, ForecastNet


def prepare(cfg):
    """Rank 0 fetches the archive into scratch; all ranks learn where it is."""
    where = [None]
    if dist.get_rank() == 0:
        folder = tempfile.mkdtemp(prefix="archive-")
        where = [write_archive(os.path.join(folder, "fields.h5"), **cfg["archive"])]
    dist.broadcast_object_list(where, src=0)
    return where[0]


def train(cfg, path):
    options = cfg["training"]
    torch.manual_seed(options["seed"])
    dataset = ForecastDataset(path, options["lead"])
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, sampler=sampler, drop_last=True, **cfg["loader"])
    model = DistributedDataParallel(ForecastNet(cfg["archive"]["variables"], options["hidden"]))
    optimizer = torch.optim.Adam(model.parameters(), lr=options["lr"])
    for epoch in range(options["epochs"]):
        sampler.set_epoch(epoch)
        began, total = time.time(), 0.0
        for now, later in loader:
            loss = F.mse_loss(model(now), later)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        if dist.get_rank() == 0:
            rate = len(loader) * cfg["loader"]["batch_size"] * dist.get_world_size() / (time.time() - began)
            print(f"epoch {epoch} loss {total / len(loader):.4f} samples/s {rate:.0f}", flush=True)


def main():
    cfg = yaml.safe_load(pathlib.Path(__file__).with_name("settings.yaml").read_text())
    dist.init_process_group("gloo")
    path = prepare(cfg)
    try:
        train(cfg, path)
        dist.barrier()
    finally:
        if dist.get_rank() == 0:
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
