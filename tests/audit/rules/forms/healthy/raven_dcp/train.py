import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard

from state import Progress


class Deep(nn.Module):
    def __init__(self, dim=2048, depth=16):
        super().__init__()
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU()) for _ in range(depth))
        self.out = nn.Linear(dim, dim)

    def forward(self, x):
        for b in self.blocks:
            x = x + b(x)
        return self.out(x)


def main(total=5000, every=500):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    model = Deep().cuda()
    for b in model.blocks:
        fully_shard(b)
    fully_shard(model)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-4)
    torch.manual_seed(1 + dist.get_rank())
    progress = Progress("ckpt", model, opt).load()
    while progress.step < total:
        x = torch.randn(64, 2048, device="cuda")
        loss = nn.functional.mse_loss(model(x), x.roll(1, 1))
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        progress.step += 1
        if progress.step % every == 0:
            progress.save()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
