import argparse
import logging
import math

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from gpt import GPT, GPTConfig
from sampling import Sampler

log = logging.getLogger("lm")


def text(n=40000, vocab=48):
    g = torch.Generator().manual_seed(7)
    steps = torch.randint(1, 4, (n,), generator=g)
    return steps.cumsum(0) % vocab


def batch(data, block, size, g):
    at = torch.randint(0, len(data) - block - 1, (size,), generator=g).tolist()
    return (torch.stack([data[a:a + block] for a in at]), torch.stack([data[a + 1:a + block + 1] for a in at]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--iters", type=int, default=240)
    p.add_argument("--sample-every", type=int, default=60)
    p.add_argument("--lr", type=float, default=2e-3)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(message)s")
    torch.manual_seed(2)
    c = GPTConfig()
    model = DistributedDataParallel(GPT(c))
    raw = model.module
    opt = torch.optim.AdamW(model.parameters(), a.lr)
    sampler = Sampler([[5, 6, 8], [30, 31], [0]])
    data, g = text(), torch.Generator().manual_seed(100 + rank)
    model.train()
    for it in range(1, a.iters + 1):
        for group in opt.param_groups:
            group["lr"] = a.lr * min(1.0, it / 20) * 0.5 * (1 + math.cos(math.pi * it / a.iters))
        _, loss = model(*batch(data, c.block, 16, g))
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % a.sample_every == 0:
            log.info("iter %d loss %.3f samples %s", it, loss.item(), sampler.preview(raw, it))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
