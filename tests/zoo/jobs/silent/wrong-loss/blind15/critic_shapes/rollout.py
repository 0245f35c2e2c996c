from dataclasses import dataclass

import torch


@dataclass
class Batch:
    obs: torch.Tensor
    action: torch.Tensor
    logp: torch.Tensor
    value: torch.Tensor
    returns: torch.Tensor
    advantage: torch.Tensor

    def minibatches(self, size, g):
        for rows in torch.randperm(len(self.obs), generator=g).split(size):
            yield Batch(*(getattr(self, f)[rows] for f in self.__dataclass_fields__))


class Tracker:
    """Vectorised toy control: keep a drifting point near the origin."""

    def __init__(self, n, seed):
        self.g = torch.Generator().manual_seed(seed)
        self.s = torch.randn(n, 6, generator=self.g)

    def step(self, action):
        push = (action.float() - 1)[:, None] * torch.tensor([0.3, 0, 0, 0, 0, 0])
        self.s = 0.97 * self.s + push + 0.1 * torch.randn(self.s.shape, generator=self.g)
        return self.s, -self.s[:, 0].abs()


@torch.no_grad()
def collect(env, net, steps, gamma, lam):
    keep = {k: [] for k in ("obs", "action", "logp", "value", "reward")}
    obs = env.s
    for _ in range(steps):
        logits, value = net(obs)
        dist = torch.distributions.Categorical(logits=logits)
        action = dist.sample()
        nxt, reward = env.step(action)
        for k, v in zip(keep, (obs, action, dist.log_prob(action), value.squeeze(-1), reward)):
            keep[k].append(v)
        obs = nxt
    last = net(obs)[1].squeeze(-1)
    values = torch.stack(keep["value"] + [last])
    adv, run = torch.zeros(steps, len(last)), torch.zeros(len(last))
    for t in reversed(range(steps)):
        delta = keep["reward"][t] + gamma * values[t + 1] - values[t]
        run = delta + gamma * lam * run
        adv[t] = run
    flat = [torch.stack(keep[k]).flatten(0, 1) for k in ("obs", "action", "logp", "value")]
    returns = (adv + values[:-1]).flatten()
    return Batch(*flat, returns, adv.flatten()), torch.stack(keep["reward"]).mean().item()
