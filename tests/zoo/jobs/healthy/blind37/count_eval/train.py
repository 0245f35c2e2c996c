import argparse

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, Subset, TensorDataset

torch.set_num_threads(1)


def crops(n, seed):
    g = torch.Generator().manual_seed(seed)
    c = torch.randn(7, 36, generator=torch.Generator().manual_seed(15))
    y = torch.randint(0, 7, (n,), generator=g)
    return TensorDataset(0.8 * c[y] + torch.randn(n, 36, generator=g), y)


def build_model(p):
    return nn.Sequential(nn.Linear(36, 64), nn.BatchNorm1d(64), nn.ReLU(), nn.Dropout(p), nn.Linear(64, 7))


class Evaluator:
    """Each rank goes over every world-th sample, without padding; counts are added up."""

    def __init__(self, dataset, batch_size):
        rank, world = dist.get_rank(), dist.get_world_size()
        self.loader = DataLoader(Subset(dataset, range(rank, len(dataset), world)), batch_size)

    @torch.no_grad()
    def __call__(self, model):
        model.eval()
        counts = torch.zeros(3, dtype=torch.float64)
        for x, y in self.loader:
            out = model(x)
            counts[0] += nn.functional.cross_entropy(out, y, reduction="sum").double()
            counts[1] += (out.argmax(1) == y).sum()
            counts[2] += len(y)
        dist.all_reduce(counts)
        model.train()
        return (counts[0] / counts[2]).item(), (counts[1] / counts[2]).item()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch-size", type=int, default=32)
    ap.add_argument("--patience", type=int, default=2)
    ap.add_argument("--dropout", type=float, default=0.2)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    train_set = crops(2500, 0)
    sampler = DistributedSampler(train_set, shuffle=True, drop_last=True)
    loader = DataLoader(train_set, args.batch_size, sampler=sampler, drop_last=True)
    evaluator = Evaluator(crops(701, 1), 64)
    net = build_model(args.dropout)
    model = DDP(nn.SyncBatchNorm.convert_sync_batchnorm(net) if torch.cuda.is_available() else net)
    torch.manual_seed(1000 + rank)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3 * world)
    sched = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, "min", patience=0, factor=0.3)
    best, bad = float("inf"), 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        for b in model.module.buffers():
            dist.broadcast(b, 0)
        val, acc = evaluator(model.module)
        sched.step(val)
        if rank == 0:
            print(f"epoch {epoch} train {loss.item():.4f} val {val:.4f} acc {acc:.4f} lr {opt.param_groups[0]['lr']:.1e}",
                  flush=True)
        best, bad = (val, 0) if val < best else (best, bad + 1)
        if bad > args.patience:
            break
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
