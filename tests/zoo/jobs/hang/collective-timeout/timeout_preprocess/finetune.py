from datetime import timedelta

import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from corpus import prepare, read_batches

TIMEOUT = timedelta(seconds=5)


def train(model, opt, round_, rank):
    for tokens in read_batches(f"tokens-{round_}.pt", rank):
        loss = torch.nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def main():
    dist.init_process_group("gloo", timeout=TIMEOUT)
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(torch.nn.Embedding(64, 16), torch.nn.Linear(16, 64)))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    for round_, documents in enumerate([40, 400]):
        if rank == 0:
            prepare(f"tokens-{round_}.pt", documents)
        dist.barrier()
        loss = train(model, opt, round_, rank)
        if rank == 0:
            print(f"round {round_} loss {loss:.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
