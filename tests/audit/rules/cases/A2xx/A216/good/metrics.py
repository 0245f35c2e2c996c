import os

import torch
import torch.distributed as dist



class Meters:
    def __init__(self):
        self.meters = {}

    def add(self, name, value):
        self.meters.setdefault(name, []).append(value)

    def update(self, **values):
        for name, value in values.items():
            self.add(name, value)

    def synchronised(self):
        for name, values in self.meters.items():
            dist.all_reduce(values)


def step(batch, meters):
    meters.add("loss", 2.0)
    meters.add("sizes", 3.0)
    if batch["crowd"].any():
        meters.add("sizes", 1.0)


def reduce_all(metrics, names, folder):
    for name in sorted({"loss", "accuracy"}):
        dist.all_reduce(metrics[name])
    for name in sorted(set(names)):
        dist.all_reduce(metrics[name])
    for name in sorted(os.listdir(folder)):
        dist.all_reduce(torch.load(name))
    for name in {"loss", "accuracy"}:
        print(name)
    order = [1, 2] if dist.get_rank() == 0 else [2, 1]
    for number in order:
        print(number)
    for name in ("loss", "accuracy"):
        dist.all_reduce(metrics[name])


def main(batches):
    meters = Meters()
    for batch in batches:
        step(batch, meters)
    meters.synchronised()
