import argparse
import random
from collections import deque

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from track import Tracker


class QNet(nn.Module):
    def __init__(self, obs, actions):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(obs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, actions))

    def forward(self, x):
        return self.net(x)


class Replay:
    def __init__(self, size):
        self.rows = deque(maxlen=size)

    def push(self, *row):
        self.rows.append(row)

    def sample(self, n):
        cols = zip(*random.sample(self.rows, n))
        return [torch.as_tensor(c, dtype=torch.float32) for c in cols]


def act(net, obs, eps, actions):
    if random.random() < eps:
        return random.randrange(actions)
    with torch.no_grad():
        return int(net(torch.as_tensor(obs, dtype=torch.float32)[None]).argmax())


def main(make_env):
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=200_000)
    p.add_argument("--gamma", type=float, default=0.99)
    p.add_argument("--name", default="dqn")
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    random.seed(rank)
    env = make_env(seed=rank)
    online, target = DDP(QNet(env.obs_dim, env.n_act)), QNet(env.obs_dim, env.n_act)
    target.load_state_dict(online.module.state_dict())
    opt = torch.optim.Adam(online.parameters(), 2.5e-4)
    memory, obs = Replay(50_000), env.reset()
    tracker = Tracker("ddp-dqn", vars(args))
    for step in range(args.steps):
        a = act(online.module, obs, max(0.05, 1 - step / 50_000), env.n_act)
        nxt, reward, done = env.step(a)
        memory.push(obs, a, reward, nxt, float(done))
        obs = env.reset() if done else nxt
        if step < 1000:
            continue
        o, act_, r, n, d = memory.sample(64)
        q = online(o).gather(1, act_.long()[:, None]).squeeze(1)
        with torch.no_grad():
            goal = r + args.gamma * (1 - d) * target(n).amax(1)
        loss = nn.functional.smooth_l1_loss(q, goal)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 1000 == 0:
            target.load_state_dict(online.module.state_dict())
            tracker.log(step, loss=loss.item(), q=q.mean().item())
    tracker.close()
    dist.destroy_process_group()
