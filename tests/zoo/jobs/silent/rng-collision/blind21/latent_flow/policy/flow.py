import torch
import torch.nn as nn
import torch.nn.functional as F


def time_embedding(t, dim):
    freqs = torch.exp(torch.linspace(0, 6, dim // 2))
    angles = t[:, None] * freqs[None]
    return torch.cat([angles.sin(), angles.cos()], dim=-1)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        h = self.norm(x)
        x = x + self.attn(h, h, h, need_weights=False)[0]
        return x + self.mlp(x)


class FlowPolicy(nn.Module):
    def __init__(self, action_dim, state_dim, horizon, width, depth, beta_a, beta_b):
        super().__init__()
        self.width = width
        self.beta_a, self.beta_b = beta_a, beta_b
        self.embed_action = nn.Linear(action_dim, width)
        self.embed_state = nn.Linear(state_dim, width)
        self.embed_time = nn.Linear(width, width)
        self.position = nn.Parameter(torch.randn(1, horizon, width) * 0.02)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.head = nn.Linear(width, action_dim)

    def sample_beta(self, batch):
        u = torch.rand(batch).pow(1.0 / self.beta_a)
        v = torch.rand(batch).pow(1.0 / self.beta_b)
        return (u / (u + v)).clamp(1e-3, 1 - 1e-3)

    def velocity(self, noisy, state, t):
        x = self.embed_action(noisy) + self.position
        x = x + self.embed_state(state)[:, None] + self.embed_time(time_embedding(t, self.width))[:, None]
        for block in self.blocks:
            x = block(x)
        return self.head(x)

    def forward(self, state, action):
        noise = torch.randn_like(action)
        t = self.sample_beta(len(action))
        w = t[:, None, None]
        noisy = w * noise + (1 - w) * action
        return F.mse_loss(self.velocity(noisy, state, t), noise - action)
