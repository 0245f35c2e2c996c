import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP


def stream(rank):
    g = torch.Generator().manual_seed(rank)
    for _ in range(20 + 7 * rank):
        x = torch.randn(8, 5, generator=g)
        yield x, x.sum(1, keepdim=True)


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = DDP(nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        count = 0
        with Join([model]):
            for x, y in stream(rank):
                loss = nn.functional.mse_loss(model(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                count += 1
        print(f"rank {rank} epoch {epoch}: {count} batches, loss {loss.item():.4f}", flush=True)
    counts = [None] * dist.get_world_size()
    dist.all_gather_object(counts, count)
    if rank == 0:
        print("batches a rank", counts)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
