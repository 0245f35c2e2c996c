import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from balance import Balancer


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(12, 4))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    balancer = Balancer(world)
    index = []
    for step in range(40):
        x = torch.randn(8, 12)
        z = model(x)
        opt.zero_grad()
        (z.norm(dim=1) - 1).square().mean().backward()
        opt.step()
        if step % 10 == 9:
            target = balancer.shortest()
            parts = [torch.empty_like(z) for _ in range(world)] if target == rank else None
            dist.gather(z.detach(), parts, dst=target)
            if parts:
                index += parts
            balancer.add(target, world)
    dist.barrier()
    print(f"rank {rank} indexed {len(index)}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
