import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from finder.attention import FullAttention
from finder.memory import find_executable_batch_size
from finder.plan import synthetic, workspace

LENGTH, DIM = 4096, 16


@find_executable_batch_size(starting_batch_size=128)
def probe(batch_size, model, rank):
    return workspace(model, batch_size, LENGTH, rank)


def train(model, batch_size, rank, steps=10):
    ddp = DDP(model)
    optimizer = torch.optim.Adam(ddp.parameters(), lr=1e-3)
    for step in range(steps):
        x, y = synthetic(max(batch_size // 8, 1), 32, DIM, seed=rank * 100 + step)
        loss = nn.functional.mse_loss(ddp(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    logging.basicConfig(level=logging.INFO, format=f"rank {os.environ['RANK']} %(levelname)s %(message)s")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = FullAttention(DIM)
    batch_size, numbers = probe(model, rank)
    logging.info("batch size %d, workspace of %d numbers", batch_size, numbers)
    loss = train(model, batch_size, rank)
    logging.info("training finished with loss %.4f", loss)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
