import argparse
import random

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from optimization import get_linear_schedule_with_warmup, steps_per_epoch


class Triples(Dataset):
    def __init__(self, n, topics=12, length=6, vocab=240, seed=0):
        rng = random.Random(seed)
        width = vocab // topics
        draw = lambda t: [t * width + rng.randrange(width) for _ in range(length)]
        self.rows = []
        for _ in range(n):
            a, b = rng.sample(range(topics), 2)
            self.rows.append((draw(a), draw(a), draw(b)))

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return tuple(torch.tensor(part) for part in self.rows[i])


class TwoTower(nn.Module):
    def __init__(self, vocab=240, dim=24):
        super().__init__()
        self.embedding = nn.EmbeddingBag(vocab, dim)
        self.query = nn.Linear(dim, dim)
        self.document = nn.Linear(dim, dim)

    def forward(self, q, pos, neg):
        qv = F.normalize(self.query(self.embedding(q)), dim=-1)
        pv = F.normalize(self.document(self.embedding(pos)), dim=-1)
        nv = F.normalize(self.document(self.embedding(neg)), dim=-1)
        return (qv * pv).sum(-1), (qv * nv).sum(-1)


def worker(rank, args):
    dist.init_process_group("gloo", init_method=f"file://{args.store}", rank=rank, world_size=args.procs)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    data = Triples(args.triples)
    sampler = DistributedSampler(data, num_replicas=args.procs, rank=rank, seed=args.seed)
    loader = DataLoader(data, args.batch_size, sampler=sampler)
    model = DistributedDataParallel(TwoTower())
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    total = args.epochs * steps_per_epoch(len(loader), args.accumulation)
    scheduler = get_linear_schedule_with_warmup(optimizer, int(0.1 * total), total)
    if rank == 0:
        print(f"{len(data)} triples, {len(loader)} batches per epoch, {total} optimization steps", flush=True)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        correct = torch.zeros(2)
        for step, (q, pos, neg) in enumerate(loader):
            sp, sn = model(q, pos, neg)
            loss = F.relu(args.margin - sp + sn).mean() / args.accumulation
            loss.backward()
            if (step + 1) % args.accumulation == 0 or step + 1 == len(loader):
                nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad()
            scheduler.step()
            correct += torch.tensor([(sp > sn).sum().item(), len(sp)])
        dist.all_reduce(correct)
        if rank == 0:
            print(f"epoch {epoch} pairwise accuracy {correct[0] / correct[1]:.3f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), args.output)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    import os
    import tempfile

    ap = argparse.ArgumentParser()
    ap.add_argument("--triples", type=int, default=640)
    ap.add_argument("--epochs", type=int, default=8)
    ap.add_argument("--batch-size", type=int, default=16)
    ap.add_argument("--accumulation", type=int, default=4)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--margin", type=float, default=0.3)
    ap.add_argument("--procs", type=int, default=2)
    ap.add_argument("--seed", type=int, default=12)
    ap.add_argument("--output", default="ranker.pt")
    options = ap.parse_args()
    options.store = os.path.join(tempfile.mkdtemp(), "store")
    mp.spawn(worker, args=(options,), nprocs=options.procs)
