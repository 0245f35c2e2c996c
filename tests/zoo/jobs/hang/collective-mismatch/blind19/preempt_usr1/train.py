import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from trainer import Trainer

CFG = {"lr": 0.01, "epochs": 60, "batch": 16, "pid_file": "trainer.pid"}


class Waves(Dataset):
    def __init__(self, n=1600, length=256):
        t = torch.linspace(0, 6.28, length)
        g = torch.Generator().manual_seed(2)
        self.freq = torch.rand(n, 1, generator=g) * 5
        self.x = torch.sin(self.freq * t) + 0.1 * torch.randn(n, length, generator=g)

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i], self.freq[i]


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    data = Waves()
    loader = DataLoader(data, batch_size=CFG["batch"], sampler=DistributedSampler(data))
    trainer = Trainer(model, loader, CFG)
    state = trainer.fit()
    if trainer.rank == 0:
        print(f"job {state} at step {trainer.step}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
