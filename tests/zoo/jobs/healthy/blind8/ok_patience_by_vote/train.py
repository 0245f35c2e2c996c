import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from stopping import Patience


def local_validation(model, rank):
    gen = torch.Generator().manual_seed(500 + rank)
    x = torch.randn(64, 8, generator=gen)
    with torch.no_grad():
        return (model.module(x).squeeze(1) - x[:, 0]).square().mean().item() + 0.02 * float(torch.rand(1))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(torch.nn.Linear(8, 1))
    torch.manual_seed(100 + rank)
    optim = torch.optim.SGD(model.parameters(), lr=0.05)
    patience = Patience(rounds=2 + rank)
    gen = torch.Generator().manual_seed(rank)
    for epoch in range(60):
        for _ in range(10):
            x = torch.randn(16, 8, generator=gen)
            loss = (model(x).squeeze(1) - x[:, 0]).square().mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
        mine = patience.update(local_validation(model, rank))
        if mine:
            print(f"rank {rank} would stop in epoch {epoch}", flush=True)
        votes = torch.tensor(float(mine))
        dist.all_reduce(votes)
        if votes.item() > dist.get_world_size() / 2:
            break
    print(f"rank {rank} left after epoch {epoch}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
