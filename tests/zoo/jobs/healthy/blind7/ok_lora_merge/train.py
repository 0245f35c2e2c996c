import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from lora import inject, lora_state_dict


class Layer(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(dim), nn.Linear(dim, 2 * dim), nn.Linear(2 * dim, dim)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Base(nn.Module):
    def __init__(self, dim=32, layers=3):
        super().__init__()
        self.embed = nn.Linear(10, dim)
        self.layers = nn.Sequential(*[Layer(dim) for _ in range(layers)])
        self.out = nn.Linear(dim, 3)

    def forward(self, x):
        return self.out(self.layers(self.embed(x)))


def domain(n, seed):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 10, generator=g)
    return TensorDataset(x, ((x[:, 0] > 0).long() + (x[:, 1] * x[:, 2] > 0).long()))


@torch.no_grad()
def accuracy(model, data):
    model.eval()
    x, y = data.tensors
    value = (model(x).argmax(1) == y).float().mean().item()
    model.train()
    return value


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = Base().requires_grad_(False)
    inject(net, {"up", "down"})
    model = DistributedDataParallel(net)
    optimizer = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=1e-2, weight_decay=0.0)
    data, held_out = domain(1024, 0), domain(256, 1)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        model.train()
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        value = accuracy(net, held_out)
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f} acc {value:.3f}", flush=True)
    if rank == 0:
        torch.save(lora_state_dict(net), "adapter.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
