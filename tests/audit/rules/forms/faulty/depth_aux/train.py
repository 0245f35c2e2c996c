import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from model import DepthNet


def wrap(net, device, options):
    return DistributedDataParallel(net.to(device), device_ids=[device], **options)  # cause


DDP_OPTIONS = {
    "gradient_as_bucket_view": True,
    "static_graph": True,  # cause
    "broadcast_buffers": False,
}


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("data")
    ap.add_argument("--epochs", type=int, default=50)
    ap.add_argument("--lr", type=float, default=2e-4)
    args = ap.parse_args()
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    b = torch.load(args.data, map_location="cpu")
    data = TensorDataset(b["image"], b["depth"], b["edge"])
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 8, sampler=sampler, num_workers=4, pin_memory=True, drop_last=True)
    net = wrap(DepthNet(), local, DDP_OPTIONS)
    opt = torch.optim.AdamW(net.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss = net(*(t.to(local, non_blocking=True) for t in batch))
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item())
            torch.save(net.module.state_dict(), "depth.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
