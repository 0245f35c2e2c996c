import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


class PeriodicAverage:
    """Local SGD: each rank steps alone, and every `period` steps the weights are averaged."""

    def __init__(self, module, period):
        self.module, self.period, self.step = module, period, 0

    @torch.no_grad()
    def __call__(self):
        self.step += 1
        if self.step % self.period:
            return
        flat = nn.utils.parameters_to_vector(self.module.parameters())
        dist.all_reduce(flat)
        nn.utils.vector_to_parameters(flat / dist.get_world_size(), self.module.parameters())


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    x = torch.randn(2880, 10)
    y = (x @ torch.randn(10, 3)).argmax(1)
    data = TensorDataset(x, y)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Linear(32, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    average = PeriodicAverage(model, 8)
    for epoch in range(2):
        sampler.set_epoch(epoch)
        for xb, yb in loader:
            loss = nn.functional.cross_entropy(model(xb), yb)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            average()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
