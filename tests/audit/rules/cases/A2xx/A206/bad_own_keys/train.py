from collections import defaultdict

import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


class Meter:
    def __init__(self, accelerator):
        self._accelerator = accelerator
        self.kept = defaultdict(list)

    def add(self, key, value):
        self.kept[key].append(value)

    def means(self):
        return {key: one for key, one in self._means()}

    def _means(self):
        for key, values in self.kept.items():
            mean = torch.tensor(sum(values) / len(values), device=self._accelerator.device)
            yield key, self._accelerator.reduce(mean, reduction="mean").item()


def main():
    accelerator = Accelerator()
    meter = Meter(accelerator)
    net, loader = accelerator.prepare(torch.nn.Linear(8, 8), DataLoader(torch.load("data.pt"), 4))
    for x in loader:
        loss = net(x).square()
        meter.add("loss", loss.mean().item())
        large = loss[loss > 1]
        if large.numel():
            meter.add("large", large.mean().item())
        accelerator.backward(loss.mean())
    print(meter.means())


if __name__ == "__main__":
    main()
