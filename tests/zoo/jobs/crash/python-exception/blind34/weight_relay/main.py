import argparse
import os
import shutil
import socket

import torch
import torch.multiprocessing as mp

from policy import BanditEnv, Policy
from sync import connect, store_barrier


def learner(store, args):
    torch.manual_seed(args.seed)
    policy = Policy()
    optimizer = torch.optim.Adam(policy.parameters(), lr=3e-3)
    env = BanditEnv(seed=args.seed)
    for version in range(args.updates):
        for _ in range(args.inner_steps):
            obs = env.sample(args.batch)
            dist, value = policy(obs)
            act = dist.sample()
            reward = env.reward(obs, act)
            adv = reward - value
            loss = -(dist.log_prob(act) * adv.detach()).mean() + 0.5 * adv.pow(2).mean() - 0.01 * dist.entropy().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        path = os.path.join(args.dir, f"policy_{version}.pt")
        torch.save(policy.state_dict(), path)
        store.set("policy/version", str(version))
        store_barrier(store, args.world, "weights")
        print(f"learner: version {version} loss {loss.item():.3f}", flush=True)
    store_barrier(store, args.world, "exit")


def actor(rank, store, args):
    torch.manual_seed(args.seed + rank)
    policy = Policy().eval()
    env = BanditEnv(seed=args.seed + rank)
    for version in range(args.updates):
        store_barrier(store, args.world, "weights")
        path = os.path.join(args.dir, f"policy_{version}.pt")
        policy.load_state_dict(torch.load(path, weights_only=True))
        obs = env.sample(1024)
        with torch.no_grad():
            score = env.reward(obs, policy(obs)[0].sample()).mean()
        print(f"actor {rank}: version {version} reward {score:.3f}", flush=True)
    store_barrier(store, args.world, "exit")


def run(rank, args):
    torch.set_num_threads(1)
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(args.world), LOCAL_RANK=str(rank))
    store = connect("127.0.0.1", args.port, rank, args.world)
    if rank == 0:
        learner(store, args)
    else:
        actor(rank, store, args)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--actors", type=int, default=1)
    p.add_argument("--updates", type=int, default=5)
    p.add_argument("--inner-steps", type=int, default=300)
    p.add_argument("--batch", type=int, default=256)
    p.add_argument("--seed", type=int, default=0)
    p.add_argument("--dir", default="weights")
    args = p.parse_args()
    args.world, args.port = args.actors + 1, free_port()
    shutil.rmtree(args.dir, ignore_errors=True)
    os.makedirs(args.dir)
    mp.spawn(run, args=(args,), nprocs=args.world)
