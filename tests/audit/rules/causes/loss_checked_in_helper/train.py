"""The batch of one rank is skipped before backward(): the others average gradients without it."""
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from checks import is_usable


class Run:
    def __init__(self, model, loader):
        self.model = DDP(model)
        self.loader = loader
        self.optimizer = torch.optim.Adam(self.model.parameters())
        self.skipped = 0

    def epoch(self, number):
        self.loader.sampler.set_epoch(number)
        for x, y in self.loader:
            self.optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(self.model(x), y)
            if not is_usable(loss):  # cause
                self.skipped += 1
                continue
            loss.backward()
            self.optimizer.step()


def main():
    dist.init_process_group("gloo")
    x = torch.randn(256, 8)
    data = TensorDataset(x, x.log().sum(1, keepdim=True))
    run = Run(torch.nn.Linear(8, 1), DataLoader(data, batch_size=16, sampler=DistributedSampler(data)))
    for number in range(3):
        run.epoch(number)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
