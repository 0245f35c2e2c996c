import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .shards import ShardSet


def auc(scores, labels):
    pos, neg = scores[labels > 0.5], scores[labels < 0.5]
    return (pos[:, None] > neg[None]).float().mean()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--shards", required=True)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--eval-every", type=int, default=3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [{rank}] %(message)s")
    shards = ShardSet(args.shards, rank, world)
    x, y = shards.train()
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(18, 64), nn.ReLU(), nn.Linear(64, 1)))
    opt = torch.optim.Adam(model.parameters(), 2e-3)
    for epoch in range(args.epochs):
        for i in torch.randperm(len(x)).split(10):
            loss = nn.functional.binary_cross_entropy_with_logits(model(x[i]).squeeze(-1), y[i])
            opt.zero_grad()
            loss.backward()
            opt.step()
        logging.info("epoch %d loss %.4f", epoch, loss.item())
        if (epoch + 1) % args.eval_every == 0:
            hx, hy = shards.held_out()
            with torch.no_grad():
                score = auc(model.module(hx).squeeze(-1), hy)
            dist.all_reduce(score)
            logging.info("auc %.4f", score.item() / world)
    if rank == 0:
        torch.save(model.module.state_dict(), "ranker.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
