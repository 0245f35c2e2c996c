import argparse
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn

from seeding import seed_process
from stages import StageRunner


def average(params, world):
    for p in params:
        dist.all_reduce(p.grad)
        p.grad /= world


def returns_to_go(rewards, gamma):
    out, run = [], torch.zeros_like(rewards[0])
    for r in rewards.flip(0):
        run = r + gamma * run
        out.append(run)
    return torch.stack(out[::-1])


def learner(rank, cfg):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{cfg.port}", rank=rank, world_size=cfg.world)
    process_seed = seed_process(cfg.seed, rank)
    policy = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 3))
    for p in policy.parameters():
        dist.broadcast(p.data, 0)
    optim = torch.optim.Adam(policy.parameters(), lr=3e-3)
    runner = StageRunner(cfg, process_seed)
    for it in range(cfg.iterations):
        runner.advance(it)
        logp, rewards = runner.play(policy, cfg.horizon)
        gain = returns_to_go(rewards, 0.95)
        adv = (gain - gain.mean(1, keepdim=True)) / (gain.std() + 1e-6)
        loss = -(logp * adv).mean()
        optim.zero_grad()
        loss.backward()
        average(policy.parameters(), cfg.world)
        optim.step()
        if rank == 0 and it % 10 == 0:
            print(f"iter {it} stage {runner.index} reward {rewards.mean():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    p = argparse.ArgumentParser()
    p.add_argument("--world", type=int, default=2)
    p.add_argument("--iterations", type=int, default=120)
    p.add_argument("--horizon", type=int, default=64)
    p.add_argument("--n-envs", type=int, default=64)
    p.add_argument("--seed", type=int, default=9)
    p.add_argument("--port", type=int, default=29655)
    cfg = p.parse_args()
    mp.spawn(learner, args=(cfg,), nprocs=cfg.world)
