from collections import defaultdict

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader

KEYS = ("large", "loss")


class Meter:
    def __init__(self, accelerator):
        self.accelerator = accelerator
        self.kept = defaultdict(list)
        self.counts = defaultdict(list)

    def add(self, key, value):
        self.kept[key].append(value)

    def means(self):
        found = {}
        for key in KEYS:
            local = torch.tensor([sum(self.kept[key]), len(self.kept[key])], device=self.accelerator.device)
            found[key] = self.accelerator.reduce(local, reduction="sum")
        for key in self.counts:
            found[key] = self.accelerator.gather(torch.tensor(self.counts[key]))
        for key in self.kept:
            print(key)
        return found


def main():
    accelerator = Accelerator()
    meter = Meter(accelerator)
    net, loader = accelerator.prepare(torch.nn.Linear(8, 8), DataLoader(torch.load("data.pt"), 4))
    for number, x in enumerate(loader):
        loss = net(x).square()
        meter.add("loss", loss.mean().item())
        if (loss > 1).any():
            meter.add("large", loss.mean().item())
            meter.counts["seen"].append(0)
        meter.counts["seen"].append(1)
        if number % 10 == 0:
            meter.counts["tenth"].append(number)
        accelerator.backward(loss.mean())
    print(meter.means())


if __name__ == "__main__":
    main()
