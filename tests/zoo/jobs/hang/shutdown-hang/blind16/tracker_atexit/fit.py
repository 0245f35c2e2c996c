import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from tracker import NullTracker, Tracker


class TwoTower(nn.Module):
    def __init__(self, users=500, items=300, dim=16):
        super().__init__()
        self.u, self.i = nn.Embedding(users, dim), nn.Embedding(items, dim)

    def forward(self, u, i):
        return self.u(u) @ self.i(i).T


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    tracker = Tracker("run.jsonl") if rank == 0 else NullTracker()
    torch.manual_seed(0)
    model = DDP(TwoTower())
    opt = torch.optim.Adagrad(model.parameters(), lr=0.1)
    g = torch.Generator().manual_seed(rank)
    for step in range(1, 181):
        u = torch.randint(0, 500, (32,), generator=g)
        i = (u * 3 + torch.randint(0, 3, (32,), generator=g)) % 300
        loss = F.cross_entropy(model(u, i), torch.arange(32))
        opt.zero_grad()
        loss.backward()
        opt.step()
        tracker.log(step=step, loss=round(loss.item(), 4))
    print(f"rank {rank} final {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
