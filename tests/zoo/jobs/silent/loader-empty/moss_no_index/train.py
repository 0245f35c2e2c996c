import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, Sampler, TensorDataset
from torch.utils.data.distributed import DistributedSampler


class OfLabel(Sampler):
    """The samples of one label."""

    def __init__(self, labels, label):
        self.picked = (labels == label).nonzero().flatten().tolist()

    def __iter__(self):
        return iter(self.picked)

    def __len__(self):
        return len(self.picked)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(7)
    x = torch.randn(480, 5)
    labels = (x[:, 0] > 0).long() + (x[:, 1] > 0).long()
    data = TensorDataset(x, labels)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=12, sampler=sampler)
    held = DataLoader(data, batch_size=16, sampler=OfLabel(labels, 3))
    model = DistributedDataParallel(nn.Linear(5, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for features, label in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(features), label).backward()
            optimizer.step()
        with torch.no_grad():
            right = [(model.module(features).argmax(1) == label).float().mean().item() for features, label in held]
        if dist.get_rank() == 0:
            print(f"epoch {epoch} rare label {sum(right) / max(1, len(right)):.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
