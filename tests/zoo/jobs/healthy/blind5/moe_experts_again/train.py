import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from moe import Expert, MOELayer, allreduce_shared_gradients


class MoEClassifier(nn.Module):
    def __init__(self, dim=24):
        super().__init__()
        self.proj = nn.Linear(10, dim)
        self.norm = nn.LayerNorm(dim)
        self.moe = MOELayer(dim, Expert(dim))
        self.head = nn.Linear(dim, 4)

    def forward(self, x):
        h = torch.relu(self.proj(x))
        y, balance = self.moe(self.norm(h))
        return self.head(h + y), balance


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(30 + rank)
    model = MoEClassifier()
    for p in model.parameters():
        if not getattr(p, "expert", False):
            dist.broadcast(p.data, src=0)

    g = torch.Generator().manual_seed(2)
    x = torch.randn(480, 10, generator=g)
    y = (x[:, 0] > 0).long() * 2 + torch.where(x[:, 0] > 0, x[:, 1] * x[:, 2], x[:, 3] + x[:, 4]).gt(0).long()
    dataset = TensorDataset(x, y)
    sampler = DistributedSampler(dataset, drop_last=True)
    loader = DataLoader(dataset, batch_size=12, sampler=sampler, drop_last=True)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            logits, balance = model(xb)
            loss = nn.functional.cross_entropy(logits, yb) + 0.01 * balance
            optimizer.zero_grad()
            loss.backward()
            allreduce_shared_gradients(model)
            optimizer.step()
        acc = (logits.argmax(1) == yb).float().mean()
        dist.all_reduce(acc)
        if rank == 0:
            print(f"epoch {epoch}: loss {loss.item():.3f} acc {acc.item() / dist.get_world_size():.2f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
