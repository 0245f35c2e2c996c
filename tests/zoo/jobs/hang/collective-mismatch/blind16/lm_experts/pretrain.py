import argparse
import time

import torch
import torch.distributed as dist
import torch.nn.functional as F

from comm import GradAverager, broadcast_params, gather_stats
from model import TinyMoE


def corpus(rank, vocab, n=20000):
    g = torch.Generator().manual_seed(40 + rank)
    lo = 0 if rank == 0 else vocab // 2
    walk = torch.randint(-2, 3, (n,), generator=g).cumsum(0)
    return (walk % (vocab // 2)) + lo


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=150)
    ap.add_argument("--experts", type=int, default=4)
    ap.add_argument("--dim", type=int, default=32)
    ap.add_argument("--stats-every", type=int, default=1)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(2 + rank)
    vocab = 64
    net = TinyMoE(vocab, a.dim, a.experts)
    with torch.no_grad():
        net.block.router.bias.copy_(torch.linspace(1.0, 0.2, a.experts))
    broadcast_params(net)
    average = GradAverager(net)
    opt = torch.optim.AdamW(net.parameters(), lr=3e-3)
    data = corpus(rank, vocab)
    g = torch.Generator().manual_seed(rank)
    for step in range(1, a.steps + 1):
        at = torch.randint(0, len(data) - 33, (8,), generator=g)
        win = torch.stack([data[i:i + 33] for i in at.tolist()])
        logits, load = net(win[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), win[:, 1:].flatten())
        opt.zero_grad(set_to_none=True)
        loss.backward()
        average()
        opt.step()
        if step % a.stats_every == 0:
            s = gather_stats({"loss": loss.item(), "top_load": max(load) / sum(load)})
            if rank == 0:
                print(f"{time.strftime('%H:%M:%S')} step {step} {s} load {load}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
