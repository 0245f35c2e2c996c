import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from features import Extractor, Features


def trunk(path):
    net = nn.Sequential(nn.Conv2d(3, 128, 8, 8), nn.GELU(), nn.Conv2d(128, 512, 4, 4), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten())
    net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return net


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--images", default="images.pt")
    ap.add_argument("--trunk", default="trunk.pt")
    ap.add_argument("--cache", default="feat_cache")
    ap.add_argument("--epochs", type=int, default=10)
    ap.add_argument("--refresh", action="store_true")
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    if args.refresh:
        blob = torch.load(args.images, map_location="cpu", mmap=True, weights_only=True)
        Extractor(trunk(args.trunk), device, args.cache).run(blob["images"], blob["labels"])
    ds = Features(args.cache)
    order = DistributedSampler(ds, drop_last=True)
    loader = DataLoader(ds, batch_size=None, sampler=order, num_workers=4)  # cause
    torch.manual_seed(3)
    head = DistributedDataParallel(nn.Linear(512, 1000).to(device), device_ids=[device.index])
    opt = torch.optim.SGD(head.parameters(), lr=1.0, momentum=0.9)
    for epoch in range(args.epochs):
        order.set_epoch(epoch)
        for feats, labels in loader:
            loss = nn.functional.cross_entropy(head(feats.to(device)), labels.to(device))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(head.module.state_dict(), "probe.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
