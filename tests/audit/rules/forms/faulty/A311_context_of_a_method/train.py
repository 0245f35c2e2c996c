import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from contextlib import nullcontext


class Trainer:
    def __init__(self, model, accumulate):
        self.model = DDP(model)
        self.accumulate = accumulate
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)
        self.micro = 0

    @property
    def _accumulating(self):
        return self.micro % self.accumulate != self.accumulate - 1

    def _context(self):
        return self.model.no_sync() if self._accumulating else nullcontext()

    def run(self, batches):
        for self.micro, x in enumerate(batches):
            with self._context():  # cause
                self.model(x).sum().backward()
            if (self.micro + 1) % (self.accumulate + 1) == 0:  # cause
                self.optimizer.step()  # cause
                self.optimizer.zero_grad()


def main():
    dist.init_process_group("gloo")
    Trainer(torch.nn.Linear(2, 1), 4).run([torch.randn(2, 2) for _ in range(40)])
    dist.destroy_process_group()


main()
