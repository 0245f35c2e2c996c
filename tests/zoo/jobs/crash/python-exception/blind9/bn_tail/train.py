import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Subset, TensorDataset

from net import PyramidPool


def fold(data, rank, world):
    cuts = [len(data) * r // world for r in range(world + 1)]
    return Subset(data, range(cuts[rank], cuts[rank + 1]))


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    g = torch.Generator().manual_seed(0)
    data = TensorDataset(torch.randn(49, 3, 8, 8, generator=g), torch.randint(0, 3, (49,), generator=g))
    loader = DataLoader(fold(data, rank, world), batch_size=4)
    model = DDP(PyramidPool(), broadcast_buffers=False)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    steps = torch.tensor(len(loader))
    dist.all_reduce(steps, op=dist.ReduceOp.MAX)
    for epoch in range(2):
        it = iter(loader)
        for _ in range(int(steps)):
            try:
                x, y = next(it)
            except StopIteration:
                it = iter(loader)
                x, y = next(it)
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"rank {rank} epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
