import torch
import torch.distributed as dist
from torch import nn


class ExpertParallelLayer(nn.Module):
    def __init__(self, cfg, pool):
        super().__init__()
        self.expert = nn.Sequential(
            nn.Linear(cfg.dim, cfg.hidden), nn.GELU(), nn.Linear(cfg.hidden, cfg.dim)
        )
        self.pool = pool

    def dispatch(self, tokens):
        landing = self.pool.empty(*tokens.shape)
        dist.all_to_all_single(landing.data, tokens.contiguous())
        return landing

    def forward(self, tokens):
        landing = self.dispatch(tokens)
        out = self.expert(landing.data.clone())
        return out, landing
