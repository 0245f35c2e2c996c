import torch
import torch.distributed as dist
import torch.nn as nn
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from reporter import COMM_LOCK, Meter, MetricReporter


class Patches(Dataset):
    def __init__(self, n=4096):
        g = torch.Generator().manual_seed(11)
        self.x = torch.randn(n, 3, 16, 16, generator=g)
        self.y = (self.x.mean(dim=(1, 2, 3)) > 0).long()

    def __len__(self):
        return len(self.y)

    def __getitem__(self, i):
        x = self.x[i]
        if self.y[i] == 1:
            x = x.flip(-1)
        return x, self.y[i]


def build_model():
    return nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(32, 2),
    )


def average_gradients(model, world):
    flat = torch.cat([p.grad.reshape(-1) for p in model.parameters()])
    with COMM_LOCK:
        dist.all_reduce(flat)
    flat /= world
    offset = 0
    for p in model.parameters():
        p.grad.copy_(flat[offset: offset + p.numel()].view_as(p))
        offset += p.numel()


def main():
    dist.init_process_group("gloo")
    world = dist.get_world_size()
    metrics_group = dist.new_group(backend="gloo")
    torch.manual_seed(0)
    model = build_model()
    data = Patches()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    opt = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    meter = Meter()
    reporter = MetricReporter(metrics_group, meter)
    reporter.start()
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            meter.add(loss.item())
            average_gradients(model, world)
            opt.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} done, {meter.count} steps", flush=True)
    reporter.done.set()
    reporter.join()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
