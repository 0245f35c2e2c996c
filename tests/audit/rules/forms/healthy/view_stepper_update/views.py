import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from amp_step import AmpStepper


class ViewSynth(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(6, width, 3, padding=1), nn.SiLU(), nn.Conv2d(width, width, 3, padding=1), nn.SiLU(), nn.Conv2d(width, 3, 1)
        )

    def forward(self, left, right):
        return self.net(torch.cat([left, right], dim=1)).sigmoid()


def main(args):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    blob = torch.load(args.data, map_location="cpu", weights_only=True)
    ds = TensorDataset(blob["left"], blob["right"], blob["middle"])
    sampler = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, args.batch_size, sampler=sampler, num_workers=4, drop_last=True)
    model = DDP(ViewSynth().cuda(), device_ids=[local])
    stepper = AmpStepper(model, torch.optim.AdamW(model.parameters(), lr=args.lr))
    refused = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            left, right, middle = (t.cuda(non_blocking=True) for t in batch)
            with torch.autocast("cuda", dtype=torch.float16):
                loss = nn.functional.l1_loss(model(left, right), middle)
            result = stepper(loss)
            refused += not result.applied
        if dist.get_rank() == 0:
            print(f"{epoch}: loss {result.loss:.4f} norm {result.grad_norm:.2f} refused {refused}")
    dist.destroy_process_group()


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--epochs", type=int, default=100)
    ap.add_argument("--batch-size", type=int, default=4)
    ap.add_argument("--lr", type=float, default=4e-4)
    main(ap.parse_args())
