import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from hooks import NormTracker, scaled_norm_hook

EPOCHS, BATCH = 4, 25


def spirals(n=2000):
    g = torch.Generator().manual_seed(77)
    y = torch.randint(0, 2, (n,), generator=g)
    r = torch.rand(n, generator=g) * 3 + 0.3
    a = r * 1.7 + y * 3.1416
    x = torch.stack([r * a.cos(), r * a.sin()], 1) + 0.05 * torch.randn(n, 2, generator=g)
    return TensorDataset(x, y)


def mlp():
    return nn.Sequential(nn.Linear(2, 64), nn.Tanh(), nn.Linear(64, 64), nn.Tanh(), nn.Linear(64, 2))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    data = spirals()
    sampler = DistributedSampler(data, shuffle=True)
    loader = DataLoader(data, BATCH, sampler=sampler)
    model = DDP(mlp())
    tracker = NormTracker()
    model.register_comm_hook(tracker, scaled_norm_hook)
    opt = torch.optim.Adam(model.parameters(), 3e-3)
    for epoch in range(EPOCHS):
        sampler.set_epoch(epoch)
        losses = []
        for x, y in loader:
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            losses.append(loss.item())
        if rank == 0:
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f} |g| {tracker.history[-1]:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
