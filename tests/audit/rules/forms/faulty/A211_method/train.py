import torch
import torch.distributed as dist


class Meter:
    def __init__(self):
        self.total = torch.zeros(1)
        self.count = torch.zeros(1)

    def add(self, value):
        self.total += value
        self.count += 1

    def synchronise(self):
        dist.reduce(self.total, dst=0)  # cause
        dist.reduce(self.count, dst=0)  # cause

    @property
    def mean(self):
        return (self.total / self.count).item()


def main():
    dist.init_process_group("gloo")
    meter = Meter()
    best = 1e9
    for epoch in range(4):
        for i in range(3):
            meter.add(i)
        meter.synchronise()
        if meter.mean > best:
            break
        best = meter.mean
        dist.barrier()
    dist.destroy_process_group()


main()
