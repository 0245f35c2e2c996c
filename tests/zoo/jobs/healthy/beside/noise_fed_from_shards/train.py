import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

from ema import Ema
from model import Denoiser


def batches(rank, steps, bs=64):
    g = torch.Generator().manual_seed(1000 + rank)
    basis = torch.randn(4, 32, generator=torch.Generator().manual_seed(5))
    for _ in range(steps):
        x = torch.randn(bs, 4, generator=g) @ basis
        yield x, torch.rand(bs, generator=g), torch.randn(bs, 32, generator=g)


def noised(x, t, n):
    return (1 - t[:, None]) * x + t[:, None] * n


@torch.no_grad()
def sample_error(net, val):
    total = torch.zeros(2)
    for x, t, n in val:
        total[0] += (net(noised(x, t, n), t) - (n - x)).pow(2).mean()
        total[1] += 1
    dist.all_reduce(total)
    return (total[0] / total[1]).item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = Denoiser()
    for block in net.blocks:
        fully_shard(block)
    fully_shard(net)
    ema = Ema(net, 0.95)
    opt = torch.optim.AdamW(net.parameters(), 1e-3)
    val = list(batches(rank + 50, 4))
    for step, (x, t, n) in enumerate(batches(rank, 120)):
        loss = (net(noised(x, t, n), t) - (n - x)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        ema.update()
        if step % 24 == 23:
            error = sample_error(ema.shadow, val)
            if rank == 0:
                print(f"step {step} loss {loss.item():.4f} ema val {error:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
