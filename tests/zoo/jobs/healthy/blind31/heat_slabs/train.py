import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from slabs.halo import own_slab, sum_gradients
from slabs.heat import HeatPairs
from slabs.model import SlabStep


@torch.no_grad()
def error(model, loader):
    t = torch.zeros(2)
    for u, v in loader:
        d = model(own_slab(u)) - own_slab(v)
        t += torch.stack([d.square().sum(), own_slab(v).square().sum()])
    dist.all_reduce(t)
    return (t[0] / t[1]).sqrt().item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--points", type=int, default=32)
    p.add_argument("--lr", type=float, default=4e-3)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    torch.manual_seed(args.seed)

    order = torch.Generator().manual_seed(args.seed)
    train = DataLoader(HeatPairs(1024, 1, args.points), args.batch_size, shuffle=True, generator=order)
    test = DataLoader(HeatPairs(128, 2, args.points), 64)
    model = SlabStep()
    for q in model.parameters():
        dist.broadcast(q.data, 0)
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        total = torch.zeros(1)
        for u, v in train:
            u, v = own_slab(u), own_slab(v)
            loss = (model(u) - v).square().sum() / (len(u) * args.points)
            opt.zero_grad()
            loss.backward()
            sum_gradients(model)
            opt.step()
            total += loss.detach()
        dist.all_reduce(total)
        err = error(model, test)
        if rank == 0:
            print(f"epoch {epoch} mse {total.item() / len(train):.6f} rel. error {err:.4f}", flush=True)
    if rank == 0:
        torch.save(model.state_dict(), "slab.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
