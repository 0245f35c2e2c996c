import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torchvision.models import resnet18

import loaders


class Worker:
    def __init__(self, rank, world_size):
        self.rank, self.world_size = rank, world_size
        torch.cuda.set_device(rank)
        torch.manual_seed(8)
        self.loader, self.sampler = loaders.make("cifar", 128)  # cause
        self.connect()
        net = nn.SyncBatchNorm.convert_sync_batchnorm(resnet18(num_classes=10)).cuda(rank)
        self.model = DDP(net, device_ids=[rank])
        self.optimizer = torch.optim.SGD(self.model.parameters(), 0.1, momentum=0.9, weight_decay=5e-4)
        self.schedule = torch.optim.lr_scheduler.MultiStepLR(self.optimizer, [15, 25])

    def connect(self):
        os.environ.setdefault("MASTER_ADDR", "127.0.0.1")
        os.environ.setdefault("MASTER_PORT", "29411")
        dist.init_process_group("nccl", rank=self.rank, world_size=self.world_size)  # cause

    def epoch(self, number):
        self.sampler.set_epoch(number)
        self.model.train()
        hits = torch.zeros(2, device="cuda")
        for x, y in self.loader:
            x, y = x.cuda(non_blocking=True), y.cuda(non_blocking=True)
            out = self.model(x)
            loss = nn.functional.cross_entropy(out, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            hits += torch.stack([(out.argmax(1) == y).sum(), torch.tensor(len(y), device="cuda")])
        dist.all_reduce(hits)
        self.schedule.step()
        return (hits[0] / hits[1]).item()

    def fit(self, epochs):
        for number in range(epochs):
            value = self.epoch(number)
            if self.rank == 0:
                print(f"{number}: {value:.3f}", flush=True)
        dist.destroy_process_group()


def run(rank, world_size):
    Worker(rank, world_size).fit(30)


if __name__ == "__main__":
    n = torch.cuda.device_count()
    mp.spawn(run, args=(n,), nprocs=n)
