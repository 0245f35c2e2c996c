import itertools

import torch
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Trainer:
    def __init__(self, model, data, path):
        self.model = model
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, batch_size=8, sampler=self.sampler)
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        self.epoch, self.skip = 0, 0
        if path:
            state = torch.load(path, weights_only=True)
            self.model.load_state_dict(state["model"])
            self.epoch = state["step"] // len(self.loader)
            self.skip = state["step"] % len(self.loader)

    def batches(self):
        if self.skip:
            return itertools.islice(self.loader, self.skip, None)
        return self.loader

    def fit(self, epochs):
        while self.epoch < epochs:
            self.sampler.set_epoch(self.epoch)
            for x, y in self.batches():
                loss = torch.nn.functional.cross_entropy(self.model(x), y)
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
            self.epoch += 1


def main(model, data, path):
    Trainer(model, data, path).fit(10)
