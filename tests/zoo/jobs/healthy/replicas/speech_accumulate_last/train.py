import contextlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

MICRO = 4


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(8, 16, 3, padding=1)
        self.head = nn.Linear(16, 4)

    def forward(self, x):
        return self.head(torch.relu(self.conv(x)).mean(-1))


def quiet(model, number):
    return model.no_sync() if number < MICRO else contextlib.nullcontext()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(11)
    model = DistributedDataParallel(Encoder())
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(rank)
    for step in range(25):
        optimizer.zero_grad()
        for number in range(1, MICRO + 1):
            x = torch.randn(8, 8, 20, generator=generator)
            y = x.mean(-1)[:, :4].argmax(1)
            with quiet(model, number):
                loss = nn.functional.cross_entropy(model(x), y) / MICRO
                loss.backward()
        optimizer.step()
    print(f"rank {rank} done: {loss.item() * MICRO:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
