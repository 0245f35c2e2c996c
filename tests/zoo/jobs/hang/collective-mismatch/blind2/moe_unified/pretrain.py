import torch
import torch.distributed as dist
from torch import nn

from formers.data import MixedDomains
from formers.moe import UnifiedMoE

DIM, TOKENS = 16, 48


class Model(nn.Module):

    def __init__(self, world_size):
        super().__init__()
        self.inp = nn.Sequential(nn.LayerNorm(DIM, elementwise_affine=False), nn.Identity())
        self.moe = UnifiedMoE(DIM, world_size)
        self.out = nn.Linear(DIM, DIM)

    def forward(self, x):
        return self.out(self.moe(self.inp(x)))


def shared_parameters(model):
    own = set(model.moe.expert.parameters())
    return [p for p in model.parameters() if p not in own]


def sync_gradients(params, world_size):
    for p in params:
        dist.all_reduce(p.grad)
        p.grad /= world_size


def main():
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = Model(world_size)
    shared = shared_parameters(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step, (x, y) in enumerate(MixedDomains(DIM, TOKENS, rank)):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        sync_gradients(shared, world_size)
        optimizer.step()
        if rank == 0 and step % 4 == 0:
            print(f"global_step {step} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
