import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module
from torch.utils.data import DataLoader, DistributedSampler

from tp.data import TensorParallelFeeder


class MLP(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.up = nn.Linear(dim, 4 * dim)
        self.down = nn.Linear(4 * dim, dim)

    def forward(self, x):
        return self.down(nn.functional.gelu(self.up(x)))


class LM(nn.Module):
    def __init__(self, vocab=32000, dim=1024, depth=12):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim)
        self.mlps = nn.ModuleList(MLP(dim) for _ in range(depth))
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        h = self.emb(ids)
        for mlp in self.mlps:
            h = h + mlp(h)
        return self.out(h)


def reduce_grads(model, group):
    for p in model.parameters():
        if p.grad is not None:
            local = p.grad.to_local() if hasattr(p.grad, "to_local") else p.grad
            dist.all_reduce(local, op=dist.ReduceOp.AVG, group=group)


def main(corpus, seq=1024, batch=8, tp=4):
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    mesh = init_device_mesh("cuda", (dist.get_world_size() // tp, tp), mesh_dim_names=("dp", "tp"))
    torch.manual_seed(0)
    model = LM().cuda()
    for mlp in model.mlps:
        parallelize_module(mlp, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
    opt = torch.optim.AdamW(model.parameters(), lr=2e-4, foreach=False)
    dp = mesh["dp"]
    sampler = DistributedSampler(corpus, num_replicas=dp.size(), rank=dp.get_local_rank(), drop_last=True)
    loader = DataLoader(corpus, batch, sampler=sampler, drop_last=True)
    device = torch.device("cuda", torch.cuda.current_device())
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for ids in TensorParallelFeeder(loader, mesh.get_group("tp"), device, (batch, seq + 1)):
            loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            reduce_grads(model, mesh.get_group("dp"))
            opt.step()
    dist.destroy_process_group()
