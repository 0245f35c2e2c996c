import torch
from torch.distributed.optim import ZeroRedundancyOptimizer


def build(model, cfg):
    if cfg.shard_optimizer:
        return ZeroRedundancyOptimizer(model.parameters(), optimizer_class=torch.optim.AdamW, lr=cfg.lr, weight_decay=cfg.decay)
    return torch.optim.AdamW(model.parameters(), lr=cfg.lr, weight_decay=cfg.decay)


def full_state(opt):
    if isinstance(opt, ZeroRedundancyOptimizer):
        opt.consolidate_state_dict()
    return opt.state_dict()
