import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from spikes import SpikeGuard


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(20, 40), nn.Tanh(), nn.Linear(40, 20))

    def forward(self, x):
        return x + self.net(x)


class Observations:
    """Stations of one region; some of their reports are broken."""

    def __init__(self, rank, broken):
        self.generator = torch.Generator().manual_seed(rank)
        self.broken = broken

    def __iter__(self):
        for number in range(40):
            x = torch.randn(6, 20, generator=self.generator)
            y = 0.8 * x
            if self.broken.get(number) == "missing":
                y[0] = float("nan")
            elif self.broken.get(number) == "units":
                y = y * 300
            yield x, y


class Trainer:
    BROKEN = {0: {17: "units"}, 1: {5: "missing", 31: "missing"}, 2: {}}

    def __init__(self):
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.model = DistributedDataParallel(Forecaster())
        self.optimizer = torch.optim.Adam(self.model.parameters(), lr=2e-3)
        self.guard = SpikeGuard()

    def fit(self):
        taken = 0
        for x, y in Observations(self.rank, self.BROKEN[self.rank]):
            loss = nn.functional.mse_loss(self.model(x), y)
            if self.guard.should_skip(loss.item()):
                self.optimizer.zero_grad()
                continue
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            taken += 1
        return taken


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    trainer = Trainer()
    taken = trainer.fit()
    print(f"rank {trainer.rank}: {taken} batches, {trainer.guard.agreed} left out, {trainer.guard.local} of them own", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
