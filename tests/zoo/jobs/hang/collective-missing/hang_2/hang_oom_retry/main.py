import logging
import os
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from memory import shrink_everywhere
from net import Encoder, sequences

logging.basicConfig(level=logging.INFO, format=f"[r{os.environ['RANK']}] %(message)s")


def train():
    rank = dist.get_rank()
    torch.manual_seed(7)
    model = DDP(Encoder())
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    batch_size = torch.tensor(8)
    for it, (tokens, lengths) in enumerate(sequences(rank, steps=30)):
        tokens, lengths = tokens[: batch_size.item()], lengths[: batch_size.item()]
        try:
            opt.zero_grad()
            loss = model(tokens, lengths)
            loss.backward()
            opt.step()
        except torch.OutOfMemoryError:
            logging.warning("step %d: out of memory, %d tokens in the batch", it, int(lengths.sum()))
            opt.zero_grad()
            shrink_everywhere(batch_size, rank)
            continue
        if it % 10 == 0:
            logging.info("step %d loss %.3f", it, loss.item())


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)
