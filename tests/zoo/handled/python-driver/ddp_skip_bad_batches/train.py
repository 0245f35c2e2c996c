"""A batch that any rank cannot use is skipped by all ranks: they agree on it before the step."""
import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.nn.parallel import DistributedDataParallel as DDP


def decode(rank, step):
    if rank == 1 and step in (2, 5):
        raise ValueError(f"sample {step} of rank {rank} is corrupt")
    return torch.full((2, 4), 0.1 * (rank + step))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    skipped = 0
    for step in range(8):
        try:
            x, ok = decode(rank, step), torch.ones(1)
        except ValueError:
            x, ok = None, torch.zeros(1)
        dist.all_reduce(ok, op=dist.ReduceOp.MIN)
        if not ok:
            skipped += 1
            continue
        try:
            loss = model(x).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            if step == 6:
                raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB (drill)")
        except torch.OutOfMemoryError:
            opt.zero_grad(set_to_none=True)
            skipped += 1
    if rank == 0:
        print(f"8 batches, {skipped} skipped", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
