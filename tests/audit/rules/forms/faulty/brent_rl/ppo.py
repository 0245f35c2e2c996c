import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn

from reducer import Reducer


@dataclass
class PPOConfig:
    envs: int = 64
    horizon: int = 32
    updates: int = 500
    passes: int = 4
    clip: float = 0.2
    gamma: float = 0.99
    lr: float = 3e-4


class Policy(nn.Module):
    def __init__(self, obs=8, act=4, width=128):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh())
        self.pi, self.v = nn.Linear(width, act), nn.Linear(width, 1)

    def forward(self, o):
        h = self.body(o)
        return torch.distributions.Categorical(logits=self.pi(h)), self.v(h).squeeze(-1)


class Drift:
    def __init__(self, n, gen):
        self.gen, self.s = gen, torch.randn(n, 8, generator=gen)

    def step(self, a):
        push = nn.functional.one_hot(a, 4).float().repeat(1, 2) * 0.2
        self.s = self.s * 0.95 - push + 0.1 * torch.randn(self.s.shape, generator=self.gen)
        return self.s, -self.s.pow(2).mean(1)


def collect(net, env, cfg):
    obs, act, logp, rew = [], [], [], []
    o = env.s
    with torch.no_grad():
        for _ in range(cfg.horizon):
            d, _ = net(o)
            a = d.sample()
            obs.append(o), act.append(a), logp.append(d.log_prob(a))
            o, r = env.step(a)
            rew.append(r)
        ret = net(o)[1]
        out = []
        for r in reversed(rew):
            ret = r + cfg.gamma * ret
            out.append(ret)
    return torch.cat(obs), torch.cat(act), torch.cat(logp), torch.cat(out[::-1])


def main(cfg=PPOConfig()):
    dist.init_process_group("gloo")
    torch.set_num_threads(max(1, (os.cpu_count() or 1) // dist.get_world_size()))
    torch.manual_seed(0)
    net = Policy()
    torch.manual_seed(1 + dist.get_rank())
    env = Drift(cfg.envs, torch.Generator().manual_seed(77 + dist.get_rank()))
    opt = torch.optim.Adam(net.parameters(), lr=cfg.lr)
    reducer = Reducer(list(net.parameters()))
    for u in range(cfg.updates):
        obs, act, old, ret = collect(net, env, cfg)
        for _ in range(cfg.passes):
            d, v = net(obs)
            ratio = (d.log_prob(act) - old).exp()
            adv = ret - v.detach()
            loss = -torch.min(ratio * adv, ratio.clamp(1 - cfg.clip, 1 + cfg.clip) * adv).mean() + 0.5 * (ret - v).pow(2).mean()
            opt.zero_grad(set_to_none=True)
            loss.backward()
            reducer.start()
            reducer.finish()
            opt.step()
        if u % 50 == 0 and dist.get_rank() == 0:
            print(u, f"{ret.mean().item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
