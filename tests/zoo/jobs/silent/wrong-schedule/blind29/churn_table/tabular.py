import torch
import torch.nn as nn
from torch.utils.data import TensorDataset


def make_tables(conf):
    """Numeric and categorical columns with an interaction that takes a while to learn."""
    g = torch.Generator().manual_seed(conf["seed"])
    n, cards = conf["rows"], conf["cardinalities"]
    numeric = torch.randn(n, conf["columns"], generator=g)
    cats = torch.stack([torch.randint(0, c, (n,), generator=g) for c in cards], dim=1)
    effects = [torch.randn(c, generator=g) for c in cards]
    logit = 1.2 * numeric[:, 0] * numeric[:, 1] - numeric[:, 2] + 0.8 * torch.sin(2 * numeric[:, 3])
    logit = logit + sum(e[cats[:, i]] for i, e in enumerate(effects)) - 0.8
    label = torch.bernoulli(logit.mul(1.5).sigmoid(), generator=g)
    cut = int(0.8 * n)
    return (TensorDataset(numeric[:cut], cats[:cut], label[:cut]), TensorDataset(numeric[cut:], cats[cut:], label[cut:]))


class TabularNet(nn.Module):
    def __init__(self, conf):
        super().__init__()
        self.embeds = nn.ModuleList(nn.Embedding(c, min(8, (c + 1) // 2)) for c in conf["cardinalities"])
        width = conf["columns"] + sum(e.embedding_dim for e in self.embeds)
        self.mlp = nn.Sequential(nn.Linear(width, conf["width"]), nn.ReLU(), nn.Dropout(conf["dropout"]),
                                 nn.Linear(conf["width"], conf["width"]), nn.ReLU(), nn.Linear(conf["width"], 1))

    def forward(self, numeric, cats):
        parts = [e(cats[:, i]) for i, e in enumerate(self.embeds)]
        return self.mlp(torch.cat([numeric, *parts], dim=1)).squeeze(1)
