import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class HalveOnRise:
    """Halves the rate where the smoothed loss is higher than it was fifty steps before."""

    def __init__(self, optimizer):
        self.optimizer, self.smooth, self.seen = optimizer, None, []

    def update(self, loss):
        self.smooth = loss if self.smooth is None else 0.9 * self.smooth + 0.1 * loss
        self.seen.append(self.smooth)
        if len(self.seen) % 50 == 0 and len(self.seen) > 100 and self.smooth > 0.97 * self.seen[-50]:
            for group in self.optimizer.param_groups:
                group["lr"] *= 0.5


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(8)
    x = torch.randn(1600, 8)
    dataset = TensorDataset(x, x[:, :1].abs() + 0.5 * torch.randn(1600, 1) * (torch.arange(1600)[:, None] % 2))
    sampler = DistributedSampler(dataset, shuffle=False)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    schedule = HalveOnRise(optimizer)
    loader = DataLoader(dataset, 16, sampler=sampler)
    for epoch in range(12):
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            number = loss.detach()
            dist.all_reduce(number)
            schedule.update(number.item())
        print(f"[{rank}] epoch {epoch} loss {loss.item():.4f} lr {optimizer.param_groups[0]['lr']:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
