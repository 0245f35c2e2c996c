import os
import sys

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from vf.features import build

CACHE = os.path.join(os.environ.get("VF_CACHE", "/tmp"), f"vf_features_{os.environ.get('TORCHELASTIC_RUN_ID', 'local')}.npz")


def prepare(rank, clips):
    if rank == 0:
        feats, labels = build([f"clip_{i:05d}" for i in range(clips)])
        np.savez(CACHE, feats=feats, labels=labels)
        print(f"rank 0: {len(feats)} clips extracted", flush=True)
    dist.barrier()
    with np.load(CACHE) as cache:
        return torch.from_numpy(cache["feats"]), torch.from_numpy(cache["labels"])


def main(clips=320):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    feats, labels = prepare(rank, clips)
    model = DDP(nn.Sequential(nn.Flatten(), nn.Linear(15 * 64, 64), nn.ReLU(), nn.Linear(64, 8)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(5):
        order = torch.randperm(len(feats), generator=torch.Generator().manual_seed(epoch))[rank::world]
        for part in order.split(32):
            loss = nn.functional.cross_entropy(model(feats[part]), labels[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 320)
