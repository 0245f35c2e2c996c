import os

import torch
import torch.distributed as dist


def report(epoch, meter):
    if int(os.environ["RANK"]):
        return
    if epoch % 5 == 0:
        print(epoch, meter.value())


class Meter:
    def __init__(self):
        self.sums = torch.zeros(2)

    def value(self):
        both = self.sums.clone()
        dist.all_reduce(both)
        return (both[0] / both[1]).item()


def main():
    dist.init_process_group("gloo")
    meter = Meter()
    handlers = {"begin": [], "end": [report]}
    for epoch in range(100):
        for one in handlers["end"]:
            one(epoch, meter)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
