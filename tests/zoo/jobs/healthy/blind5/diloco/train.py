import torch
import torch.distributed as dist
from torch import nn

from local_sgd import DiLoCo


class SimpleModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.model = nn.Sequential(nn.Linear(10, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 3))

    def forward(self, x):
        return self.model(x)


def shard_of(rank, world_size, total=768):
    g = torch.Generator().manual_seed(21)
    x = torch.randn(total, 10, generator=g)
    y = (x[:, :3] * x[:, 3:6] + 0.5 * x[:, 6:9]).argmax(1)
    return x[rank::world_size], y[rank::world_size]


def batches(x, y, batch_size, seed):
    g = torch.Generator().manual_seed(seed)
    while True:
        for idx in torch.randperm(len(x), generator=g).split(batch_size):
            yield x[idx], y[idx]


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world_size = dist.get_rank(), dist.get_world_size()

    torch.manual_seed(0)
    model = SimpleModel()
    for p in model.parameters():
        dist.broadcast(p.data, src=0)
    inner = torch.optim.AdamW(model.parameters(), lr=4e-3, weight_decay=0.1, betas=(0.9, 0.95))
    outer = torch.optim.SGD(model.parameters(), lr=0.7, momentum=0.9, nesterov=True)
    criterion = nn.CrossEntropyLoss()

    stream = batches(*shard_of(rank, world_size), batch_size=16, seed=rank)
    with DiLoCo(model, inner, outer, sync_every=6) as diloco:
        for step in range(48):
            x, y = next(stream)
            loss = criterion(model(x), y)
            inner.zero_grad()
            loss.backward()
            inner.step()
            if (step + 1) % 12 == 0:
                mean = loss.detach().clone()
                dist.all_reduce(mean)
                if rank == 0:
                    print(f"step {step + 1} outer {diloco.outer_steps} loss {mean.item() / world_size:.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
