import argparse
import glob
import os

import numpy as np
import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from lockstep import any_rank, in_step


class Clouds(IterableDataset):
    def __init__(self, pattern):
        self.files = sorted(glob.glob(pattern))
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        self.epoch = 0

    def __iter__(self):
        info = get_worker_info()
        wid, n = (info.id, info.num_workers) if info else (0, 1)
        order = np.random.default_rng(self.epoch).permutation(len(self.files))
        for j in order[self.rank * n + wid::self.world * n]:
            z = np.load(self.files[j])
            yield torch.from_numpy(z["xyz"]).float(), int(z["label"])


class PointNet(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.local = nn.Sequential(nn.Linear(3, 64), nn.ReLU(), nn.Linear(64, 256))
        self.cls = nn.Linear(256, classes)

    def forward(self, xyz):
        return self.cls(self.local(xyz).amax(0)).unsqueeze(0)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("pattern")
    ap.add_argument("--classes", type=int, default=40)
    ap.add_argument("--max-points", type=int, default=200000)
    ap.add_argument("--epochs", type=int, default=10)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    ds = Clouds(args.pattern)
    model = DDP(PointNet(args.classes).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        ds.epoch = epoch
        used = 0
        for xyz, label in in_step(DataLoader(ds, batch_size=None, num_workers=2), device):
            if any_rank(len(xyz) > args.max_points, device):
                continue
            target = torch.tensor([label], device=device)
            loss = nn.functional.cross_entropy(model(xyz.to(device)), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
            used += 1
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: {used} steps")
            torch.save(model.module.state_dict(), "pointnet.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
