import torch
import torch.nn as nn
from torch.distributed.fsdp import fully_shard


class Mixer(nn.Module):
    def __init__(self, length, dim):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(dim), nn.LayerNorm(dim)
        self.tokens = nn.Sequential(nn.Linear(length, 2 * length), nn.GELU(), nn.Linear(2 * length, length))
        self.channels = nn.Sequential(nn.Linear(dim, 2 * dim), nn.GELU(), nn.Linear(2 * dim, dim))

    def forward(self, x):
        x = x + self.tokens(self.norm1(x).transpose(1, 2)).transpose(1, 2)
        return x + self.channels(self.norm2(x))


class SeqMixer(nn.Module):
    def __init__(self, vocab=32, length=16, dim=32, layers=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.layers = nn.ModuleList(Mixer(length, dim) for _ in range(layers))
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        x = self.embed(ids)
        for layer in self.layers:
            x = layer(x)
        return self.head(x)


def build_model(cfg, mesh):
    torch.manual_seed(0)
    model = SeqMixer()
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    if cfg["compile"]:
        model = torch.compile(model, dynamic=False)
    return model
