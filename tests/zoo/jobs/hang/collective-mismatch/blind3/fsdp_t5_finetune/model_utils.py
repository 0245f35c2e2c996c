import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard


class Block(nn.Module):
    def __init__(self, dim, hidden):
        super().__init__()
        self.wi, self.wo = nn.Linear(dim, hidden), nn.Linear(hidden, dim)

    def forward(self, x):
        return self.wo(torch.relu(self.wi(x)))


class TinyT5(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.encoder = Block(cfg.model_dim, cfg.hidden)
        self.decoder = nn.Linear(cfg.model_dim, cfg.model_dim)

    def forward(self, x):
        return self.decoder(x + self.encoder(x))


def build_model(cfg, world_size):
    torch.manual_seed(cfg.seed)
    model = TinyT5(cfg)
    mesh = init_device_mesh("cpu", (world_size,))
    fully_shard(model.encoder, mesh=mesh)
    return fully_shard(model, mesh=mesh)
