import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from trainer_ds import Trainer


class Recognizer(nn.Module):
    def __init__(self, mel=40, width=160, classes=10):
        super().__init__()
        self.front = nn.Conv1d(mel, width, 5, stride=2)
        self.mid = nn.Conv1d(width, width, 5)
        self.out = nn.Linear(width, classes)

    def forward(self, x):
        h = torch.relu(self.mid(torch.relu(self.front(x))))
        return self.out(h.mean(dim=2))


def make(n, seed):
    g = torch.Generator().manual_seed(seed)
    y = torch.randint(0, 10, (n,), generator=g)
    proto = torch.randn(10, 40, 1, generator=torch.Generator().manual_seed(99))
    return TensorDataset(proto[y] * 0.4 + torch.randn(n, 40, 60, generator=g), y)


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    train, valid = make(3200, 1), make(320, 2)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 16, sampler=sampler)
    valid_loader = DataLoader(valid, 32, sampler=DistributedSampler(valid, shuffle=False))
    trainer = Trainer(Recognizer())
    for epoch in range(6):
        sampler.set_epoch(epoch)
        trainer.train_epoch(epoch, loader)
        acc = trainer.validate(valid_loader)
        if trainer.rank == 0:
            print(f"epoch {epoch} valid acc {acc:.3f}", flush=True)
            torch.save(trainer.model.module.state_dict(), "model.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
