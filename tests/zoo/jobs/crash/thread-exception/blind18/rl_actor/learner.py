import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from actor import Actor


class Policy(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 64), nn.Tanh(), nn.Linear(64, n))

    def forward(self, o):
        return self.net(o).log_softmax(-1)


class Learner:
    def __init__(self, args):
        rank = dist.get_rank()
        self.args = args
        self.actor = Actor(args.sides[rank % len(args.sides)], 17 + rank, args.horizon)
        self.policy = DDP(Policy(4))
        self.opt = torch.optim.RMSprop(self.policy.parameters(), lr=1e-3)

    def batch(self):
        return self.actor.out.get(timeout=self.args.queue_timeout)

    def learn(self):
        self.actor.start()
        for it in range(self.args.iters):
            o, a, r = self.batch()
            ret = r.flip(0).cumsum(0).flip(0)
            lp = self.policy(o).gather(1, a[:, None]).squeeze(1)
            loss = -(lp * (ret - ret.mean())).mean()
            self.opt.zero_grad()
            loss.backward()
            self.opt.step()
            if it % 25 == 0 and dist.get_rank() == 0:
                logging.info("iter %d reward %.3f", it, r.mean().item())


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--sides", type=int, nargs="+", default=[4, 30])
    p.add_argument("--horizon", type=int, default=128)
    p.add_argument("--iters", type=int, default=300)
    p.add_argument("--queue-timeout", type=float, default=8.0)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO)
    dist.init_process_group("gloo")
    torch.manual_seed(2)
    Learner(args).learn()
    dist.destroy_process_group()
