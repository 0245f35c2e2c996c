import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from retrieval.distributed import mean_over_ranks
from retrieval.losses import InfoNCE
from retrieval.pairs import PairDataset
from retrieval.towers import TwoTowers


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--batch-size", type=int, default=64)
    parser.add_argument("--lr", type=float, default=2e-3)
    parser.add_argument("--temperature", type=float, default=0.05)
    parser.add_argument("--pairs", type=int, default=8192)
    return parser.parse_args()


@torch.no_grad()
def recall_at_1(model, dataset):
    model.eval()
    queries, documents = next(iter(DataLoader(dataset, batch_size=len(dataset))))
    q, d = (F.normalize(x, dim=-1) for x in model(queries, documents))
    model.train()
    return ((q @ d.t()).argmax(1) == torch.arange(len(q))).float().mean().item()


def main():
    args = parse()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train, held_out = PairDataset(args.pairs, seed=1), PairDataset(256, seed=2)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, batch_size=args.batch_size, sampler=sampler, drop_last=True)
    model = DistributedDataParallel(TwoTowers())
    criterion = InfoNCE(args.temperature)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for queries, documents in loader:
            loss = criterion(*model(queries, documents))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        loss = mean_over_ranks(loss)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss:.4f} recall@1 {recall_at_1(model.module, held_out):.3f}", flush=True)
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
