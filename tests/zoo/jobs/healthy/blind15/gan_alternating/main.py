import argparse
import math

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

from game import Game
from nets import critic, generator


def ring(n, g):
    k = torch.randint(0, 8, (n,), generator=g) * (2 * math.pi / 8)
    return torch.stack([k.cos(), k.sin()], 1) + 0.05 * torch.randn(n, 2, generator=g)


def play(rank, a):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{a.port}", rank=rank, world_size=a.procs)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    game = Game(DistributedDataParallel(generator()), DistributedDataParallel(critic()), a.lr, a.critics)
    g = torch.Generator().manual_seed(1 + rank)
    for step in range(1, a.steps + 1):
        for _ in range(a.critics):
            d = game.judge(ring(64, g), torch.randn(64, 8, generator=g))
        loss = game.fool(torch.randn(64, 8, generator=g))
        if step % 100 == 0 and rank == 0:
            print(f"step {step} critic {d:.3f} generator {loss:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--procs", type=int, default=2)
    p.add_argument("--port", type=int, default=29791)
    p.add_argument("--steps", type=int, default=300)
    p.add_argument("--critics", type=int, default=2)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    mp.spawn(play, args=(args,), nprocs=args.procs)
