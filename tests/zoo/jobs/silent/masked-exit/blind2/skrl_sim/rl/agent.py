import torch
import torch.distributed as dist
from torch import nn


class PPO:

    def __init__(self, env, curriculum, lr=3e-3, horizon=16):
        self.env, self.curriculum, self.horizon = env, curriculum, horizon
        self.policy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1))
        self.optimizer = torch.optim.Adam(self.policy.parameters(), lr=lr)
        for p in self.policy.parameters():
            dist.broadcast(p.data, src=0)

    def reduce_parameters(self):
        flat = torch.cat([p.grad.flatten() for p in self.policy.parameters()])
        dist.all_reduce(flat)
        flat /= dist.get_world_size()
        offset = 0
        for p in self.policy.parameters():
            p.grad.copy_(flat[offset : offset + p.numel()].view_as(p))
            offset += p.numel()

    def update(self, iteration):
        gain = self.curriculum.gain(iteration)
        state, total = self.env.reset(), 0.0
        for _ in range(self.horizon):
            state, reward = self.env.step(self.policy(state * gain).squeeze(1))
            total = total + reward.mean()
        self.optimizer.zero_grad()
        (-total).backward()
        self.reduce_parameters()
        self.optimizer.step()
        return total.item()
