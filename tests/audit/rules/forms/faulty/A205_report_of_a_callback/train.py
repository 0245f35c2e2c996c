import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from core.callbacks import Context, Report
from core.meter import Meter


class Trainer:
    def __init__(self, model):
        self.model = model
        self.meter = Meter()
        self.callbacks = []

    def register(self, callback):
        self.callbacks.append(callback)

    def fit(self, batches, ctx):
        optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        for ctx.step, x in enumerate(batches):
            optimizer.zero_grad()
            loss = self.model(x).pow(2).mean()
            loss.backward()
            optimizer.step()
            self.meter.add(loss.item())
            for one in self.callbacks:
                one.maybe(ctx, self)


def main():
    dist.init_process_group("gloo")
    trainer = Trainer(DistributedDataParallel(torch.nn.Linear(4, 1)))
    trainer.register(Report())
    trainer.fit([torch.randn(4, 4) for _ in range(1000)], Context(dist.get_rank()))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
