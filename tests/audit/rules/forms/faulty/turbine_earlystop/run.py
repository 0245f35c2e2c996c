import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from trainer import ForecastTrainer


def loader(blob, shuffle):
    data = TensorDataset(blob["x"], blob["y"])
    return DataLoader(data, batch_size=256, sampler=DistributedSampler(data, shuffle=shuffle))


def main(path):
    dist.init_process_group("gloo")
    device = torch.device("cpu")
    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", 2)))
    blob = torch.load(path, map_location="cpu")
    width = blob["train"]["x"].shape[-1]
    model = DDP(nn.Sequential(nn.Linear(width, 128), nn.SiLU(), nn.Linear(128, 1)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    best = ForecastTrainer(model, opt, loader(blob["train"], True), loader(blob["val"], False), device).fit(200)
    if dist.get_rank() == 0:
        torch.save({"net": model.module.state_dict(), "best": best}, "turbine.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
