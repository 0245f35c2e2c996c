import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from forecaster import Forecaster
from series import Meters


def pinball(pred, target, q):
    diff = target - pred
    return torch.maximum(q * diff, (q - 1) * diff).mean()


def run():
    dist.init_process_group("gloo")
    torch.manual_seed(1)
    data = Meters()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=64, sampler=sampler)
    model = DistributedDataParallel(Forecaster())
    for p in model.parameters():
        p.grad = None
    best = float("inf")
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        total = 0.0
        for window, target in loader:
            loss = pinball(model(window), target, 0.5)
            loss.backward()
            optimizer.step()
            model.zero_grad()
            total += loss.item()
        best = min(best, total / len(loader))
        if dist.get_rank() == 0:
            print(f"epoch {epoch} pinball {total / len(loader):.4f} best {best:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    run()
