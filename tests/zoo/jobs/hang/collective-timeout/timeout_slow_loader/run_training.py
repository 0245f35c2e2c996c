import argparse
import os
from datetime import timedelta

import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from disks import ArchivedRows


class Trainer:
    def __init__(self, options):
        self.rank = int(os.environ["RANK"])
        self.options = options
        torch.manual_seed(0)
        self.model = DistributedDataParallel(nn.Sequential(nn.Linear(5, 10), nn.Softplus(), nn.Linear(10, 1)))
        self.optimizer = torch.optim.Adam(self.model.parameters())

    def epoch(self, number):
        loader = DataLoader(ArchivedRows(self.rank, number), batch_size=16)
        for x, y in loader:
            self.optimizer.zero_grad()
            loss = nn.functional.mse_loss(self.model(x), y)
            loss.backward()
            self.optimizer.step()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--timeout", type=float, default=1800, help="seconds")
    options = parser.parse_args()
    dist.init_process_group("gloo", timeout=timedelta(seconds=options.timeout))
    trainer = Trainer(options)
    for number in range(2):
        trainer.epoch(number)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
