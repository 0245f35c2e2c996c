import argparse
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

from exporting import Exporter


class Mlp(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm = nn.LayerNorm(dim)
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(4 * dim, dim)

    def forward(self, x):
        return x + self.down(F.gelu(self.up(self.norm(x))))


class Stack(nn.Module):
    def __init__(self, dim, depth, classes):
        super().__init__()
        self.blocks = nn.ModuleList(Mlp(dim) for _ in range(depth))
        self.head = nn.Linear(dim, classes)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return self.head(x)


def shard(model, mesh):
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for block in model.blocks:
        fully_shard(block, mesh=mesh, mp_policy=policy)
    fully_shard(model, mesh=mesh, mp_policy=policy)
    return model


def synthetic(dim, classes, batch, device, seed):
    gen = torch.Generator(device=device).manual_seed(seed)
    while True:
        x = torch.randn(batch, dim, device=device, generator=gen)
        yield x, (x[:, :classes]).argmax(-1)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", default="exports")
    parser.add_argument("--steps", type=int, default=5000)
    parser.add_argument("--export-every", type=int, default=500)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    torch.manual_seed(1234)
    mesh = init_device_mesh("cuda", (dist.get_world_size(),), mesh_dim_names=("dp",))
    model = shard(Stack(1024, 12, 10).cuda(), mesh)
    optim = torch.optim.AdamW(model.parameters(), lr=2e-4)
    exporter = Exporter(args.out, args.export_every)
    stream = synthetic(1024, 10, 32, torch.device("cuda", local), seed=dist.get_rank())
    for step in range(args.steps):
        x, y = next(stream)
        loss = F.cross_entropy(model(x).float(), y)
        loss.backward()
        optim.step()
        optim.zero_grad()
        exporter.maybe_export(model, step)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
