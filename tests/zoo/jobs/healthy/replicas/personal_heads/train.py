import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(30 + rank)
    body = DistributedDataParallel(nn.Sequential(nn.Linear(6, 16), nn.ReLU()))
    head = nn.Linear(16, 3)
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.05)
    data = torch.Generator().manual_seed(rank)
    for step in range(30):
        x = torch.randn(16, 6, generator=data)
        loss = nn.functional.cross_entropy(head(body(x)), (x[:, rank] > 0).long())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"rank {rank}: {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
