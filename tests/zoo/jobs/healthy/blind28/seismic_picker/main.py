import argparse
import logging
import os
import socket
import time
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from picker import Arena, Picker
from sizing import largest_batch
from traces import Traces

MEMORY = [6_000_000, 2_600_000, 6_000_000]


def prepare(rank, path):
    """The catalogue is made once; the others have nothing to do until it is there."""
    if rank == 0:
        time.sleep(4)
        catalogue = Traces(720, seed=1)
        torch.save({"trace": catalogue.trace, "onset": catalogue.onset}, path)
    dist.barrier()
    stored = torch.load(path, weights_only=True)
    data = Traces(1, seed=0)
    data.trace, data.onset = stored["trace"], stored["onset"]
    return data


@torch.no_grad()
def check(rank, model):
    """Rank 0 alone picks on the test traces, with the module itself."""
    if rank == 0:
        model.eval()
        test = Traces(96, seed=5)
        error = (model.module(test.trace).argmax(1) - test.onset).abs().float()
        model.train()
        logging.info("median error %.1f samples", error.median())
    dist.barrier()


def work(rank, world, port, args):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=world)
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {rank}: %(message)s")
    torch.manual_seed(15)
    data = prepare(rank, Path(args.catalogue))
    arena = Arena(MEMORY[rank % len(MEMORY)])
    batch = largest_batch(lambda n: arena.take(n, data.trace.shape[1], 16), args.batch)
    logging.info("batches of %d", batch)

    sampler = DistributedSampler(data, seed=15)
    loader = DataLoader(data, batch, sampler=sampler)
    model = DistributedDataParallel(Picker())
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr)
    best, waited = float("inf"), 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        total = torch.zeros(2)
        for trace, onset in loader:
            loss = torch.nn.functional.cross_entropy(model(trace), onset)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += torch.tensor([loss.item(), 1.0])
        dist.all_reduce(total)
        mean = (total[0] / total[1]).item()
        if rank == 0:
            logging.info("epoch %d loss %.3f", epoch, mean)
        check(rank, model)
        best, waited = (mean, 0) if mean < best - args.gain else (best, waited + 1)
        if waited > args.patience:
            logging.info("stops early")
            break
    if rank == 0:
        torch.save(model.module.state_dict(), "picker.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--catalogue", default="catalogue.pt")
    parser.add_argument("--batch", type=int, default=96)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--gain", type=float, default=0.03)
    parser.add_argument("--patience", type=int, default=1)
    arguments = parser.parse_args()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free = probe.getsockname()[1]
    mp.spawn(work, args=(arguments.ranks, free, arguments), nprocs=arguments.ranks)
