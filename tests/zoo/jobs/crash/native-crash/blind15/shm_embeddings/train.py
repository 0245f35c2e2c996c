import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from dataset import NeighbourPairs, build_table
from shared_table import attach, publish

log = logging.getLogger("pairs")


class Projector(nn.Module):
    def __init__(self, dim=64, out=32):
        super().__init__()
        self.proj = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, out))
        self.scale = nn.Parameter(torch.tensor(5.0))

    def forward(self, a, b):
        return self.scale * nn.functional.cosine_similarity(self.proj(a), self.proj(b))


def open_table(local_rank):
    name = f"pairs-{os.environ.get('TORCHELASTIC_RUN_ID', 'none')[:8]}-{os.environ['MASTER_PORT']}"
    block, table = None, build_table() if local_rank == 0 else None
    if local_rank == 0:
        block = publish(name, table)
    info = [None if table is None else (table.shape, str(table.dtype))]
    dist.broadcast_object_list(info, src=0)
    if local_rank != 0:
        table = attach(name, *info[0])
    log.info("table %s, mean %.4f", table.shape, table.mean())
    dist.barrier()
    return table, block


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch", type=int, default=32)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(message)s")
    table, block = open_table(int(os.environ["LOCAL_RANK"]))
    pairs = NeighbourPairs(table)
    sampler = DistributedSampler(pairs)
    model = DistributedDataParallel(Projector())
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    try:
        for epoch in range(args.epochs):
            sampler.set_epoch(epoch)
            for a, b, same in DataLoader(pairs, args.batch, sampler=sampler):
                loss = nn.functional.binary_cross_entropy_with_logits(model(a, b), same.float())
                opt.zero_grad()
                loss.backward()
                opt.step()
            log.info("epoch %d loss %.3f", epoch, loss.item())
        dist.barrier()
    finally:
        if block is not None:
            block.close()
            block.unlink()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
