import argparse
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from grid import Grid, Ladder


def episode(net, grid, ladder, eps, gen, steps=12):
    obs, out, solved = grid.reset(ladder.distance()), [], torch.zeros(grid.n, dtype=torch.bool)
    for _ in range(steps):
        with torch.no_grad():
            act = net(obs).argmax(1)
        explore = torch.rand(grid.n, generator=gen) < eps
        act = torch.where(explore, torch.randint(4, (grid.n,), generator=gen), act)
        nxt, rew, hit = grid.step(act)
        out.append((obs, act, rew, nxt, hit.float()))
        solved |= hit
        obs = nxt
    return [torch.cat(t) for t in zip(*out)], solved.float().mean().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--variant", required=True)
    v = json.loads(p.parse_args().variant)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(2)
    q = DDP(nn.Sequential(nn.Linear(4, 128), nn.ReLU(), nn.Linear(128, 128), nn.ReLU(), nn.Linear(128, 4)))
    optim = torch.optim.Adam(q.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(40 + rank)
    grid = Grid(v["size"], 64, gen)
    ladder = Ladder(v["levels"], v.get("promote_at", 0.9) if rank else 0.98)
    solved = 0.0
    for rnd in range(v["rounds"]):
        (obs, act, rew, nxt, hit), solved = episode(q.module, grid, ladder, max(0.1, 1 - rnd / 30), gen)
        for idx in torch.randperm(len(obs), generator=gen).chunk(4):
            with torch.no_grad():
                goal = rew[idx] + 0.9 * (1 - hit[idx]) * q.module(nxt[idx]).max(1).values
            loss = nn.functional.smooth_l1_loss(q(obs[idx]).gather(1, act[idx, None]).squeeze(1), goal)
            optim.zero_grad()
            loss.backward()
            optim.step()
        ladder.report(solved)
        if rank == 0 and rnd % 10 == 0:
            print(f"round {rnd} loss {loss.item():.4f} solved {solved:.2f} distance {ladder.distance()}", flush=True)
    if rank == 0:
        print(f"success {solved:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
