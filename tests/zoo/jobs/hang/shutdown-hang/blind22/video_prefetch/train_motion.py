import argparse
import itertools

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

from vp.clips import assign, decode
from vp.net import motion_net
from vp.reader import ReadAhead


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--batch", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=2)
    args = parser.parse_args()

    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    clips = assign(rank, world)
    steps = torch.tensor(len(clips) // args.batch)
    dist.all_reduce(steps, op=dist.ReduceOp.MIN)  # the same number of steps on all ranks

    model = DistributedDataParallel(motion_net())
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        order = [clips[i] for i in torch.randperm(len(clips), generator=torch.Generator().manual_seed(epoch))]
        for video, target in itertools.islice(ReadAhead(order, decode, args.batch), steps.item()):
            loss = torch.nn.functional.cross_entropy(model(video), target)
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} steps {steps.item()} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    print(f"rank {rank} done", flush=True)


if __name__ == "__main__":
    main()
