import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from asr.curriculum import refresh
from asr.net import Encoder
from asr.packed import PackedFeatures, pack

TOTAL = 1600


def open_loader(path, epoch):
    data = PackedFeatures(path)
    sampler = DistributedSampler(data, shuffle=True, seed=3)
    sampler.set_epoch(epoch)
    return DataLoader(data, batch_size=16, sampler=sampler)


def main(work):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    path = os.path.join(work, "train.fbank")
    if rank == 0:
        pack(path, TOTAL, seed=0)
    dist.barrier()
    model = DistributedDataParallel(Encoder())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(4):
        loader = open_loader(path, epoch)
        refresh(path, epoch, TOTAL, rank)
        for feats, labels in loader:
            loss = torch.nn.functional.cross_entropy(model(feats), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else tempfile.gettempdir())
