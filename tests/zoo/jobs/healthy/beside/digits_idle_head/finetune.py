import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from nets import Classifier


def digits(n, seed):
    g = torch.Generator().manual_seed(seed)
    proto = torch.randn(10, 1, 20, 20, generator=torch.Generator().manual_seed(77))
    y = torch.randint(10, (n,), generator=g)
    return proto[y] + 1.5 * torch.randn(n, 1, 20, 20, generator=g), y


def stage(model, x, y, lr, epochs, g, name):
    ddp = DDP(model, find_unused_parameters=True)
    opt = torch.optim.AdamW(
        [{"params": model.encoder.parameters(), "lr": lr * 0.3}, {"params": model.head.parameters()}, {"params": model.depth.parameters(), "lr": lr}], lr
    )
    for epoch in range(epochs):
        for rows in torch.randperm(len(x), generator=g).split(32):
            loss = nn.functional.cross_entropy(ddp(x[rows]), y[rows])
            opt.zero_grad()
            loss.backward()
            opt.step()
        if dist.get_rank() == 0:
            print(f"{name} epoch {epoch} loss {loss.item():.3f}", flush=True)


def main():
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(1)
    model = Classifier(10)
    model.encoder.requires_grad_(False)
    x, y = digits(1600, 0)
    x, y = x[rank::world], y[rank::world]
    g = torch.Generator().manual_seed(rank)
    stage(model, x, y, 2e-3, 2, g, "probe")
    model.unfreeze()
    stage(model, x, y, 1e-3, 3, g, "full")
    if rank == 0:
        torch.save(model.state_dict(), "model.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
