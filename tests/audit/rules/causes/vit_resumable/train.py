import argparse
import os

import torch
import torch.distributed as dist
import torchvision as tv
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from workspace import Workspace


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--folder", default="runs/vit-s")
    p.add_argument("--data", default="imagenet100/train")
    p.add_argument("--epochs", type=int, default=90)
    p.add_argument("--batch", type=int, default=96)
    p.add_argument("--lr", type=float, default=5e-4)
    return p.parse_args()


def train(args, work):
    t = tv.transforms
    tf = t.Compose([t.RandomResizedCrop(224), t.RandomHorizontalFlip(), t.ToTensor()])
    data = tv.datasets.ImageFolder(args.data, tf)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, args.batch, sampler=sampler, num_workers=8, drop_last=True, pin_memory=True)
    local = torch.cuda.current_device()
    model = DistributedDataParallel(tv.models.vit_b_16(num_classes=100).cuda(), device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=0.3)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.lr, epochs=args.epochs, steps_per_epoch=len(loader))
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            with torch.autocast("cuda", dtype=torch.bfloat16):
                loss = torch.nn.functional.cross_entropy(model(x.cuda()), y.cuda())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        if dist.get_rank() == 0:
            print(epoch, round(loss.item(), 3))
            torch.save(model.module.state_dict(), work.folder / "last.pt")
    work.finish(args.epochs)


if __name__ == "__main__":
    args = parse()
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(1)
    work = Workspace(args.folder)
    work.prepare_run(vars(args))
    train(args, work)
    dist.destroy_process_group()
