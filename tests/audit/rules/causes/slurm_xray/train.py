import os
from typing import NamedTuple

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torchvision.models import densenet121

from data import train_loader

CFG = {
    "root": "/scratch/chexpert",
    "findings": ["Atelectasis", "Cardiomegaly", "Consolidation", "Edema", "Pleural Effusion"],
    "batch": 32,
    "workers": 8,
    "epochs": 6,
    "lr": 1e-4,
    "seed": 1,
}


class SlurmEnv(NamedTuple):
    rank: int
    local: int
    world: int

    @classmethod
    def read(cls):
        return cls(*(int(os.environ[k]) for k in ("SLURM_PROCID", "SLURM_LOCALID", "SLURM_NTASKS")))


def main(cfg):
    env = SlurmEnv.read()
    torch.cuda.set_device(env.local)
    dist.init_process_group("nccl", rank=env.rank, world_size=env.world)
    torch.manual_seed(cfg["seed"])
    loader = train_loader(cfg, env)  # cause
    net = nn.SyncBatchNorm.convert_sync_batchnorm(densenet121(num_classes=len(cfg["findings"]))).cuda()
    model = DistributedDataParallel(net, device_ids=[env.local])
    optimizer = torch.optim.Adam(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        loader.sampler.set_epoch(epoch)
        for i, (image, label) in enumerate(loader):
            loss = nn.functional.binary_cross_entropy_with_logits(model(image.cuda()), label.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if env.rank == 0 and i % 50 == 0:
                print(epoch, i, round(loss.item(), 4), flush=True)
        if env.rank == 0:
            torch.save(net.state_dict(), f"xray-{epoch}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(CFG)
