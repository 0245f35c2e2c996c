import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Planner(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(cfg.features, 48), nn.Tanh())
        self.trajectory = nn.Linear(48, cfg.horizon)
        self.reward = nn.Linear(48, 1)

    def forward(self, scenes):
        hidden = self.body(scenes)
        return self.trajectory(hidden), self.reward(hidden).squeeze(-1)


def build(cfg):
    torch.manual_seed(cfg.seed)
    return DistributedDataParallel(Planner(cfg))


def replay_buffer(cfg, rank):
    generator = torch.Generator().manual_seed(cfg.seed + rank)
    for _ in range(cfg.steps):
        scenes = torch.randn(cfg.scenes, cfg.features, generator=generator)
        expert = scenes.cumsum(dim=1).repeat(1, 3)[:, : cfg.horizon]
        yield scenes, expert, torch.rand(cfg.scenes, generator=generator)
