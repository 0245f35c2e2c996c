import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from env import Env
from loaders import make_loader


class MaskedPatches(nn.Module):
    def __init__(self, patch=16, dim=384, keep=0.25):
        super().__init__()
        self.embed = nn.Conv2d(3, dim, patch, stride=patch)
        layer = nn.TransformerEncoderLayer(dim, 6, 4 * dim, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 6)
        self.decode = nn.Linear(dim, 3 * patch * patch)
        self.patch, self.keep = patch, keep

    def forward(self, x):
        target = nn.functional.unfold(x, self.patch, stride=self.patch).transpose(1, 2)
        tokens = self.embed(x).flatten(2).transpose(1, 2)
        hidden = torch.rand(tokens.shape[:2], device=x.device) > self.keep
        pred = self.decode(self.encoder(tokens.masked_fill(hidden[..., None], 0.0)))
        return ((pred - target) ** 2).mean(-1)[hidden].mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("index")
    ap.add_argument("--epochs", type=int, default=300)
    ap.add_argument("--batch-size", type=int, default=128)
    ap.add_argument("--base-lr", type=float, default=1.5e-4)
    args = ap.parse_args()
    env = Env.read()
    torch.cuda.set_device(env.local_rank)
    torch.manual_seed(100 + env.rank)
    dist.init_process_group("nccl")
    loader = make_loader(args.index, env, args.batch_size)
    model = DDP(MaskedPatches().cuda(), device_ids=[env.local_rank])
    lr = args.base_lr * args.batch_size * env.world_size / 256
    opt = torch.optim.AdamW(model.parameters(), lr=lr, betas=(0.9, 0.95))
    for epoch in range(args.epochs):
        loader.sampler.set_epoch(epoch)
        for x in loader:
            loss = model(x.cuda(non_blocking=True))
            opt.zero_grad(set_to_none=True)
            loss.backward()
            opt.step()
        if env.rank == 0:
            print(epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
