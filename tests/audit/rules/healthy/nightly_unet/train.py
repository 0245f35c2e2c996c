import argparse
import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def conv(i, o, **k):
    return nn.Sequential(nn.Conv3d(i, o, 3, padding=1, **k), nn.InstanceNorm3d(o), nn.LeakyReLU(0.01))


class UNet(nn.Module):
    def __init__(self, classes=4, w=16):
        super().__init__()
        self.a, self.b, self.c = conv(4, w), conv(w, 2 * w, stride=2), conv(2 * w, 4 * w, stride=2)
        self.u1, self.u2 = nn.ConvTranspose3d(4 * w, 2 * w, 2, 2), nn.ConvTranspose3d(2 * w, w, 2, 2)
        self.d1, self.d2 = conv(4 * w, 2 * w), conv(2 * w, w)
        self.out = nn.Conv3d(w, classes, 1)

    def forward(self, x):
        a = self.a(x)
        b = self.b(a)
        y = self.d1(torch.cat([b, self.u1(self.c(b))], 1))
        return self.out(self.d2(torch.cat([a, self.u2(y)], 1)))


def dice(logits, mask, eps=1e-5):
    p = logits.softmax(1)
    t = nn.functional.one_hot(mask, logits.size(1)).movedim(-1, 1)
    return 1 - ((2 * (p * t).sum((2, 3, 4)) + eps) / ((p + t).sum((2, 3, 4)) + eps)).mean()


def main(out, epochs):
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    torch.manual_seed(30)
    volumes, masks = torch.load("brats.pt", map_location="cpu", mmap=True)
    data = TensorDataset(volumes, masks)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 2, sampler=sampler, num_workers=4, drop_last=True)
    model = DistributedDataParallel(UNet().cuda(), device_ids=[gpu])
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.99, nesterov=True)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            x, y = x.cuda().float(), y.cuda().long()
            logits = model(x)
            loss = nn.functional.cross_entropy(logits, y) + dice(logits, y)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 12)
            optimizer.step()
        if dist.get_rank() == 0:
            print(epoch, loss.item(), flush=True)
    if dist.get_rank() == 0:
        os.makedirs(out, exist_ok=True)
        torch.save(model.module.state_dict(), os.path.join(out, "unet.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", required=True)
    parser.add_argument("--epochs", type=int, default=100)
    a = parser.parse_args()
    main(a.out, a.epochs)
