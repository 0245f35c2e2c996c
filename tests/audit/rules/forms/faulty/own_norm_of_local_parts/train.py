import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import fully_shard


class Clipper:
    def __init__(self, limit):
        self.limit = limit

    def norm(self, grads):
        return torch.stack([g.detach().float().pow(2).sum() for g in grads]).sum().sqrt()

    def __call__(self, model):
        grads = [p.grad.to_local() for p in model.parameters() if p.grad is not None]
        factor = torch.clamp(self.limit / (self.norm(grads) + 1e-6), max=1.0)
        torch._foreach_mul_(grads, factor)  # cause


def main():
    dist.init_process_group("nccl")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    model = nn.Linear(64, 64).to(device)
    fully_shard(model)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    clip = Clipper(1.0)
    torch.manual_seed(dist.get_rank())
    for _ in range(1000):
        opt.zero_grad(set_to_none=True)
        model(torch.randn(32, 64, device=device)).square().mean().backward()
        clip(model)  # cause
        opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
