import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def fields(rank, steps):
    generator = torch.Generator().manual_seed(rank)
    for _ in range(steps):
        x = torch.randn(16, 6, generator=generator)
        yield x, x.sum(1, keepdim=True).sin()


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(3)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    for step, (x, y) in enumerate(fields(dist.get_rank(), 60)):
        loss = (model(x) - y).pow(2).mean() / 2
        loss.backward()
        if step % 2 == 1:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
    if dist.get_rank() == 0:
        print(f"yield model trained, loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
