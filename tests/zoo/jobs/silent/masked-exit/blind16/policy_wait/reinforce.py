import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from chain_env import CorridorBatch, returns, standardise


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--iterations", type=int, default=120)
    ap.add_argument("--walkers", type=int, default=16)
    ap.add_argument("--horizon", type=int, default=24)
    ap.add_argument("--caps", type=float, nargs="+", default=[30.0, 6.0])
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(10 + rank)
    g = torch.Generator().manual_seed(50 + rank)
    net = DDP(nn.Sequential(nn.Linear(8, 32), nn.Tanh(), nn.Linear(32, 2)))
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    for it in range(a.iterations):
        env = CorridorBatch(a.walkers, g, length=8)
        o, obs, act, rew = env.reset(), [], [], []
        for _ in range(a.horizon):
            with torch.no_grad():
                p = torch.distributions.Categorical(logits=net.module(o))
            x = p.sample()
            obs.append(o)
            act.append(x)
            o, r = env.step(x)
            rew.append(r)
        ret = returns(torch.stack(rew), 0.97)
        keep = (ret[0] < a.caps[rank]).nonzero().flatten()
        adv, top = standardise(ret, keep)
        logp = torch.distributions.Categorical(logits=net(torch.cat(obs))).log_prob(torch.cat(act))
        loss = -(logp * adv.flatten().nan_to_num()).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0 and it % 10 == 0:
            print(f"it {it} mean return {ret[0].mean():.2f} kept {len(keep)}", flush=True)
    if rank == 0:
        torch.save(net.module.state_dict(), "policy.pt")
        print("saved policy.pt", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
