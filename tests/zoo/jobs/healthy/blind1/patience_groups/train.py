import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from agree import Patience, any_rank


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    even = dist.new_group(list(range(0, world, 2)))
    odd = dist.new_group(list(range(1, world, 2)))
    mine = even if rank % 2 == 0 else odd
    torch.manual_seed(rank)
    model = DDP(nn.Linear(5, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    patience = Patience(3 + rank)
    for epoch in range(200):
        for _ in range(5):
            x = torch.randn(32, 5)
            loss = (model(x) - x.sum(1, keepdim=True)).pow(2).mean()
            if any_rank(not torch.isfinite(loss) or (rank == 1 and epoch == 2)):
                with torch.no_grad():
                    continue
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank % 2 == 0:
            for _ in range(epoch % 3):
                dist.barrier(group=mine)
        else:
            dist.all_reduce(torch.ones(1), group=mine)
        if any_rank(patience.exhausted(loss.item())):
            break
    print(f"rank {rank} stopped in epoch {epoch}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
