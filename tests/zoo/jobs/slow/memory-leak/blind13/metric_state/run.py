import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from meters import Board, ErrorMeter


class Net(nn.Module):
    def __init__(self, dim=32, width=512):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(dim, width)] + [nn.Linear(width, width) for _ in range(3)])
        self.out = nn.Linear(width, dim)

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)


def main(epochs=6):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(10240, 32)
    data = TensorDataset(x, x.roll(1, 1).sin())
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=128, sampler=sampler)
    model = DDP(Net())
    opt = torch.optim.Adam(model.parameters(), lr=5e-4)
    probe = torch.randn(256, 32)
    board = Board(probe=ErrorMeter())
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for a, b in loader:
            loss = nn.functional.smooth_l1_loss(model(a), b)
            opt.zero_grad()
            loss.backward()
            opt.step()
            board.update("probe", model.module(probe), probe.roll(1, 1).sin())
        if dist.get_rank() == 0:
            print(f"epoch {epoch} {board.line()}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
