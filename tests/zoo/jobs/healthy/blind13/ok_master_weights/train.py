import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from masters import MasterAdamW


def build():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(64, 384), nn.GELU(), nn.LayerNorm(384), nn.Linear(384, 384), nn.GELU(),
                         nn.Linear(384, 4)).to(torch.bfloat16)


def main(steps=200, lr=2e-5):
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(build())
    opt = MasterAdamW(model.parameters(), lr=lr)
    w = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
    g = torch.Generator().manual_seed(10 + rank)
    for step in range(steps):
        x = torch.randn(32, 64, generator=g)
        loss = nn.functional.cross_entropy(model(x.bfloat16()).float(), (x @ w).argmax(1))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 40 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
