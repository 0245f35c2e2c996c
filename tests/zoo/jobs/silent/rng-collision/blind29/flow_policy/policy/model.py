import math

import torch
import torch.nn as nn

from .utils import sample_beta


def time_embedding(t, dim):
    freq = torch.exp(torch.linspace(0, math.log(1000), dim // 2))
    angle = t[:, None] * freq[None]
    return torch.cat([angle.sin(), angle.cos()], dim=1)


class FlowMatchingHead(nn.Module):
    def __init__(self, obs_dim=4, horizon=8, act_dim=2, width=128, t_dim=32):
        super().__init__()
        self.horizon, self.act_dim, self.t_dim = horizon, act_dim, t_dim
        flat = horizon * act_dim
        self.obs = nn.Sequential(nn.Linear(obs_dim, width), nn.SiLU(), nn.Linear(width, width))
        self.net = nn.Sequential(nn.Linear(flat + width + t_dim, width), nn.SiLU(), nn.Dropout(0.05),
                                 nn.Linear(width, width), nn.SiLU(), nn.Linear(width, flat))

    def velocity(self, x_t, t, cond):
        h = torch.cat([x_t.flatten(1), cond, time_embedding(t, self.t_dim)], dim=1)
        return self.net(h).view_as(x_t)

    def forward(self, obs, actions):
        noise = torch.randn_like(actions)
        t = sample_beta(1.5, 1.0, actions.shape[0]) * 0.999 + 0.001
        x_t = t.view(-1, 1, 1) * noise + (1 - t.view(-1, 1, 1)) * actions
        v = self.velocity(x_t, t, self.obs(obs))
        return (v - (noise - actions)).pow(2).mean()

    @torch.no_grad()
    def sample(self, obs, steps=10):
        x = torch.randn(obs.shape[0], self.horizon, self.act_dim)
        cond = self.obs(obs)
        for k in range(steps, 0, -1):
            t = torch.full((obs.shape[0],), k / steps)
            x = x - self.velocity(x, t, cond) / steps
        return x
