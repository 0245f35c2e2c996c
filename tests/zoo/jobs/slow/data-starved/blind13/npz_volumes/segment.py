import argparse
import os
import shutil
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from volumes import Slices, prepare


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--batch", type=int, default=8)
    ap.add_argument("--workers", type=int, default=0)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    folder = os.path.join(tempfile.gettempdir(), "vol-" + os.environ["TORCHELASTIC_RUN_ID"])
    if rank == 0:
        os.makedirs(folder)
        prepare(folder)
    dist.barrier()
    data = Slices(folder)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=a.batch, sampler=sampler, num_workers=a.workers)
    torch.manual_seed(0)
    net = DDP(nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1), nn.ReLU(),
                            nn.Conv2d(8, 2, 1)))
    opt = torch.optim.Adam(net.parameters(), lr=1e-3)
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for image, mask in loader:
            loss = nn.functional.cross_entropy(net(image), mask)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    if rank == 0:
        shutil.rmtree(folder)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
