import torch
from torch import nn


class SparseMoE(nn.Module):
    def __init__(self, recipe):
        super().__init__()
        self.attention = nn.Linear(recipe.dim, recipe.dim)
        self.experts = nn.ModuleList(
            nn.Linear(recipe.dim, recipe.dim) for _ in range(recipe.experts)
        )

    def forward(self, x):
        x = x + self.attention(x)
        return x + sum(expert(x) for expert in self.experts) / len(self.experts)


def load_model(recipe):
    torch.manual_seed(recipe.seed)
    return nn.ModuleList(SparseMoE(recipe) for _ in range(recipe.layers))


def calibration_set(recipe, rank):
    generator = torch.Generator().manual_seed(recipe.seed + rank)
    return [torch.randn(8, recipe.dim, generator=generator) for _ in range(recipe.calibration_batches)]
