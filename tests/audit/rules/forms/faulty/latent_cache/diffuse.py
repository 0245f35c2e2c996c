import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from latents import Latents, LatentWriter


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(3, 32, 4, 4), nn.SiLU(), nn.Conv2d(32, 4, 2, 2))

    def forward(self, x):
        return self.net(x)


class Denoiser(nn.Module):
    def __init__(self, width=128):
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(5, width, 3, 1, 1), nn.SiLU(), nn.Conv2d(width, width, 3, 1, 1), nn.SiLU(),
                                 nn.Conv2d(width, 4, 3, 1, 1))

    def forward(self, z, t):
        return self.net(torch.cat([z, t[:, None, None, None].expand(-1, 1, *z.shape[2:])], 1))


@torch.no_grad()
def encode(args, device):
    b = torch.load(args.images, map_location="cpu", mmap=True)
    data = TensorDataset(b["x"], b["y"])
    loader = DataLoader(data, 64, sampler=DistributedSampler(data, shuffle=False))
    enc = Encoder().to(device).eval()
    enc.load_state_dict(torch.load(args.encoder, map_location=device))
    writer = LatentWriter(args.cache, dist.get_rank())
    for x, y in loader:
        writer.add(enc(x.to(device)), y)
    dist.barrier(device_ids=[device.index])


def train(args, device):
    data = Latents(args.cache)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 128, sampler=sampler, num_workers=6, drop_last=True)
    net = DistributedDataParallel(Denoiser().to(device), device_ids=[device.index])
    opt = torch.optim.AdamW(net.parameters(), 1e-4)
    torch.manual_seed(1 + dist.get_rank())
    for epoch in range(100):
        sampler.set_epoch(epoch)
        for z, _ in loader:
            z = z.to(device)
            t, noise = torch.rand(len(z), device=device), torch.randn_like(z)
            mix = z.lerp(noise, t[:, None, None, None])
            opt.zero_grad()
            (net(mix, t) - (noise - z)).square().mean().backward()
            opt.step()
    if dist.get_rank() == 0:
        torch.save(net.module.state_dict(), "denoiser.pt")


def main():
    ap = argparse.ArgumentParser()
    for name in ("images", "encoder", "cache"):
        ap.add_argument(name)
    args = ap.parse_args()
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl")
    encode(args, device)
    train(args, device)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
