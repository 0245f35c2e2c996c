import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from hooks import Validation
from trainer import Trainer


def net(classes):
    return nn.Sequential(nn.Conv2d(2, 32, 3), nn.BatchNorm2d(32), nn.ReLU(), nn.Dropout2d(0.2),
                         nn.Conv2d(32, 64, 3, 2), nn.BatchNorm2d(64), nn.ReLU(),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.3), nn.Linear(64, classes))


def main(path):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    b = torch.load(path, map_location="cpu")
    train, val = TensorDataset(b["x"], b["y"]), TensorDataset(b["vx"], b["vy"])
    tl = DataLoader(train, 128, sampler=DistributedSampler(train), drop_last=True)
    vl = DataLoader(val, 256, sampler=DistributedSampler(val, shuffle=False))
    model = nn.SyncBatchNorm.convert_sync_batchnorm(net(int(b["classes"])))
    model = DDP(model.to(local), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), 2e-3)
    Trainer(model, opt, [Validation(vl, 250, local)], local).run(tl, 20000)
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "radar.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
