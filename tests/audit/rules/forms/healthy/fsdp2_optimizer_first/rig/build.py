from dataclasses import dataclass

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard


@dataclass
class OptimSpec:
    lr: float = 3e-4
    decay: float = 0.1
    betas: tuple = (0.9, 0.95)

    def build(self, model):
        wide = [p for p in model.parameters() if p.ndim >= 2]
        thin = [p for p in model.parameters() if p.ndim < 2]
        groups = [{"params": wide, "weight_decay": self.decay}, {"params": thin, "weight_decay": 0.0}]
        return torch.optim.AdamW(groups, lr=self.lr, betas=self.betas)


def apply_sharding(model, world):
    mesh = init_device_mesh("cuda", (world,))
    mp = MixedPrecisionPolicy(param_dtype=torch.bfloat16)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh, mp_policy=mp)
    fully_shard(model, mesh=mesh, mp_policy=mp)
    return model


def assemble(model_fn, spec, world):
    model = model_fn().cuda()
    apply_sharding(model, world)
    optim = spec.build(model)
    sched = torch.optim.lr_scheduler.LinearLR(optim, start_factor=0.01, total_iters=200)
    return model, optim, sched
