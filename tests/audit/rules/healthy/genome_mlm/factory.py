import functools

import torch
import torch.nn as nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP, ShardingStrategy
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy


class ProteinEncoder(nn.Module):
    def __init__(self, vocab=33, dim=640, depth=12):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        layer = nn.TransformerEncoderLayer(dim, 20, 4 * dim, batch_first=True, activation="gelu")
        self.trunk = nn.TransformerEncoder(layer, depth)
        self.out = nn.Linear(dim, vocab)

    def forward(self, tokens):
        return self.out(self.trunk(self.embed(tokens)))


def shard(model):
    policy = functools.partial(size_based_auto_wrap_policy, min_num_params=1_000_000)
    return FSDP(
        model,
        auto_wrap_policy=policy,
        sharding_strategy=ShardingStrategy.FULL_SHARD,
        device_id=torch.cuda.current_device(),
    )


def make_optimizer(model, cfg):
    return torch.optim.AdamW(model.parameters(), lr=cfg["lr"], weight_decay=0.01)


def assemble(cfg):
    model = ProteinEncoder(depth=cfg["depth"])
    model = shard(model)
    optimizer = make_optimizer(model, cfg)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, cfg["steps"])
    return model, optimizer, schedule
