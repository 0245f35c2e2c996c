import torch
import torch.distributed as dist
from torch import nn


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.pi = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 2))
        self.v = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))


def broadcast(module):
    for p in module.parameters():
        dist.broadcast(p.data, 0)


def average(module):
    flat = torch.cat([p.grad.flatten() for p in module.parameters()])
    dist.all_reduce(flat)
    flat /= dist.get_world_size()
    at = 0
    for p in module.parameters():
        p.grad.copy_(flat[at : at + p.numel()].view_as(p))
        at += p.numel()


class PPO:
    def __init__(self, agent, clip=0.2, target_kl=0.02, iters=4):
        self.agent = agent
        self.opt_pi = torch.optim.Adam(agent.pi.parameters(), lr=5e-3)
        self.opt_v = torch.optim.Adam(agent.v.parameters(), lr=5e-3)
        self.clip, self.target_kl, self.iters = clip, target_kl, iters

    def update(self, obs, act, old, adv, ret):
        taken = 0
        for _ in range(self.iters):
            logp = torch.distributions.Categorical(logits=self.agent.pi(obs)).log_prob(act)
            kl = (old - logp).mean().detach()
            dist.all_reduce(kl)
            if kl.item() / dist.get_world_size() > 1.5 * self.target_kl:
                break
            ratio = (logp - old).exp()
            loss = -torch.min(ratio * adv, ratio.clamp(1 - self.clip, 1 + self.clip) * adv).mean()
            self.opt_pi.zero_grad()
            loss.backward()
            average(self.agent.pi)
            self.opt_pi.step()
            taken += 1
        for _ in range(self.iters):
            loss = (self.agent.v(obs).squeeze(-1) - ret).pow(2).mean()
            self.opt_v.zero_grad()
            loss.backward()
            average(self.agent.v)
            self.opt_v.step()
        return taken
