import argparse
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from state import TrainState
from tasks import TASKS


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--task", choices=sorted(TASKS), required=True)
    parser.add_argument("--max-steps", type=int, required=True)
    parser.add_argument("--load", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    return parser.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = torch.nn.Sequential(torch.nn.Linear(12, 48), torch.nn.GELU(), torch.nn.Linear(48, 12))
    model = DDP(net)
    optim = torch.optim.AdamW(model.parameters(), lr=2e-3)
    state = TrainState(net, optim)
    if args.load:
        state.load(args.load / "last.pt")
    task = TASKS[args.task]
    gen = torch.Generator().manual_seed(17 + rank)
    while state.step < args.max_steps:
        loss = task(model, torch.randn(32, 12, generator=gen))
        optim.zero_grad()
        loss.backward()
        optim.step()
        state.step += 1
        if rank == 0 and state.step % 40 == 0:
            print(f"{args.task} step {state.step} loss {loss.item():.4f}", flush=True)
    if rank == 0:
        args.out.mkdir(parents=True)
        state.save(args.out / "last.pt")
        print(f"{args.task}: saved after step {state.step}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
