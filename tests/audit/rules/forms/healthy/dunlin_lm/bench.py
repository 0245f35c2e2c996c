from dataclasses import dataclass, field

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


def decay_groups(model, weight_decay):
    flat = [p for p in model.parameters() if p.ndim < 2]
    deep = [p for p in model.parameters() if p.ndim >= 2]
    return [{"params": deep, "weight_decay": weight_decay}, {"params": flat, "weight_decay": 0.0}]


@dataclass
class Workbench:
    model: nn.Module
    world: int
    lr: float = 3e-4
    weight_decay: float = 0.1
    total: int = 10_000
    opt: torch.optim.Optimizer = field(init=False)
    sched: torch.optim.lr_scheduler.LRScheduler = field(init=False)

    def __post_init__(self):
        self.model.to("cuda")
        self.shard()
        self.opt = torch.optim.AdamW(decay_groups(self.model, self.weight_decay), lr=self.lr, betas=(0.9, 0.95))
        self.sched = torch.optim.lr_scheduler.CosineAnnealingLR(self.opt, self.total, eta_min=self.lr / 10)

    def shard(self):
        mesh = init_device_mesh("cuda", (self.world,), mesh_dim_names=("dp",))
        policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
        for block in self.model.blocks:
            fully_shard(block, mesh=mesh, mp_policy=policy)
        fully_shard(self.model, mesh=mesh, mp_policy=policy)

    def update(self, loss):
        loss.backward()
        norm = nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.opt.step()
        self.sched.step()
        self.opt.zero_grad()
        return norm
