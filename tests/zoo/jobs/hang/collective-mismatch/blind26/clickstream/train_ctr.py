import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from stream import ShardStream

logger = logging.getLogger("ctr")


class WideAndDeep(nn.Module):
    def __init__(self, features, hidden):
        super().__init__()
        self.wide = nn.Linear(features, 2)
        self.deep = nn.Sequential(nn.Linear(features, hidden), nn.GELU(), nn.Dropout(0.1), nn.Linear(hidden, 2))

    def forward(self, x):
        return self.wide(x) + self.deep(x)


def run_epoch(model, loader, optimizer, scheduler, epoch, log_interval):
    model.train()
    seen, loss_sum = 0, 0.0
    for i, (x, y) in enumerate(loader):
        optimizer.zero_grad(set_to_none=True)
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        scheduler.step()
        seen += len(y)
        loss_sum += loss.item() * len(y)
        if i % log_interval == 0:
            logger.info("epoch %d batch %d loss %.4f lr %.2e", epoch, i, loss.item(), scheduler.get_last_lr()[0])
    return loss_sum / seen


def save(model, path, rank):
    if rank == 0:
        torch.save(model.module.state_dict(), path)
    dist.barrier()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--data", default="shards")
    ap.add_argument("--epochs", type=int, default=3)
    ap.add_argument("--batch-size", type=int, default=30)
    ap.add_argument("--hidden", type=int, default=32)
    ap.add_argument("--log-interval", type=int, default=10)
    args = ap.parse_args()

    dist.init_process_group(backend="gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.ERROR, format="%(asctime)s %(message)s")
    torch.manual_seed(7)

    dataset = ShardStream(args.data, rank, world)
    loader = DataLoader(dataset, batch_size=args.batch_size, num_workers=0)
    model = DDP(WideAndDeep(10, args.hidden))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.995)
    for epoch in range(args.epochs):
        dataset.set_epoch(epoch)
        mean = run_epoch(model, loader, optimizer, scheduler, epoch, args.log_interval)
        logger.info("epoch %d mean loss %.4f", epoch, mean)
        save(model, "ctr.pt", rank)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
