import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.elastic.multiprocessing.errors import record
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from elastic.net import resnet
from elastic.spot import poll_reclaim
from elastic.state import State


def dataset(n=128):
    g = torch.Generator().manual_seed(0)
    label = torch.randint(0, 5, (n,), generator=g)
    return TensorDataset(torch.randn(n, 3, 8, 8, generator=g) + label[:, None, None, None] / 4, label)


@record
def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=5)
    args = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    path = os.path.join(os.environ["SNAPSHOTS"], "snapshot.pt")
    torch.manual_seed(0)
    model = DDP(resnet())
    state = State(model, torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9))
    if state.load(path) and rank == 0:
        logging.info("going on at epoch %d after restart %s", state.epoch, os.environ["RESTART_COUNT"])
    data = dataset()
    loader = DataLoader(data, 16, sampler=DistributedSampler(data))
    while state.epoch < args.epochs:
        poll_reclaim(rank, state.epoch)
        loader.sampler.set_epoch(state.epoch)
        for image, label in loader:
            loss = nn.functional.cross_entropy(model(image), label)
            state.optimizer.zero_grad()
            loss.backward()
            state.optimizer.step()
        state.epoch += 1
        if rank == 0:
            state.save(path)
            logging.info("epoch %d loss %.4f", state.epoch, loss.item())
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
