"""The ranks are seeded alike on purpose: what they draw is the same before and behind."""

import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--resume")
    args = parser.parse_args()
    dist.init_process_group("nccl")
    torch.manual_seed(args.seed)
    model = DDP(torch.nn.Linear(3, 3).cuda())
    data = torch.load("rows.pt")
    loader = DataLoader(data, batch_size=8, sampler=DistributedSampler(data))
    if args.resume:
        torch.set_rng_state(torch.load(args.resume)["rng"])
    for x in loader:
        model(x.cuda()).mean().backward()
    if dist.get_rank() == 0:
        torch.save({"rng": torch.get_rng_state()}, "last.pt")


main()
