import argparse
import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--resume")
    parser.add_argument("--seed", type=int, default=3)
    args = parser.parse_args()
    dist.init_process_group("nccl")
    local = int(os.environ["LOCAL_RANK"])
    torch.manual_seed(args.seed + dist.get_rank())
    model = DDP(torch.nn.Linear(3, 3).cuda(local))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if args.resume:
        checkpoint = torch.load(args.resume, map_location=f"cuda:{local}")
        model.module.load_state_dict(checkpoint["model"])
        torch.set_rng_state(checkpoint["rng"].cpu())
    for step in range(100):
        noise = torch.randn(8, 3).cuda(local)
        model(noise).mean().backward()
        optimizer.step()
        if dist.get_rank() == 0:
            torch.save({"model": model.module.state_dict(), "rng": torch.get_rng_state()}, f"{step}.pt")


main()
