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
        failed = torch.tensor(0)
        try:
            opt.zero_grad()
            loss = model(tokens, lengths)
        except torch.OutOfMemoryError:
            logging.warning("step %d: out of memory, %d tokens in the batch", it, int(lengths.sum()))
            failed += 1
        if shrink_everywhere(batch_size, failed):
            continue
        loss.backward()
        opt.step()
        if it % 10 == 0:
            logging.info("step %d loss %.3f", it, loss.item())


if __name__ == "__main__":
    dist.init_process_group("gloo")
    train()
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)
