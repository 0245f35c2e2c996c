import argparse
import os
import tempfile

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.distributed.algorithms.join import Join
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from forecaster import Forecaster
from series import shard


def mean_over_ranks(total, count):
    pair = torch.tensor([total, float(count)], dtype=torch.double)
    dist.all_reduce(pair)
    return (pair[0] / pair[1]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--lr", type=float, default=0.1)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.set_num_threads(1)
    torch.manual_seed(21 + rank)

    names, train = shard(rank, world, end=0.8)
    _, valid = shard(rank, world, start=0.8)
    loader = DataLoader(train, args.batch_size, shuffle=True)
    model = DDP(Forecaster())
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.8)
    print(f"rank {rank}: {names}, {len(train)} windows, {len(loader)} batches", flush=True)

    with tempfile.TemporaryDirectory() as out:
        for epoch in range(args.epochs):
            model.train()
            total, count = 0.0, 0
            with Join([model]):
                for x, y in loader:
                    loss = F.smooth_l1_loss(model(x), y)
                    optimizer.zero_grad()
                    loss.backward()
                    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                    optimizer.step()
                    total, count = total + loss.item() * len(x), count + len(x)
            scheduler.step()
            model.eval()
            with torch.no_grad():
                err = [(F.l1_loss(model.module(x), y, reduction="sum").item(), y.numel()) for x, y in
                       DataLoader(valid, 64)]
            mae = mean_over_ranks(sum(e for e, _ in err), sum(n for _, n in err))
            train_loss = mean_over_ranks(total, count)
            if rank == 0:
                print(f"epoch {epoch}: loss {train_loss:.4f} valid MAE {mae:.4f}", flush=True)
                torch.save(model.module.state_dict(), os.path.join(out, "last.pt"))
            dist.barrier()
        gap = torch.nn.utils.parameters_to_vector(model.parameters()).detach()
        other = gap.clone()
        dist.broadcast(other, src=0)
        print(f"rank {rank}: largest difference of weights to rank 0: {(gap - other).abs().max():.1e}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
