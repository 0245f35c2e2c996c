import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, TensorDataset

from gather import gather_embeddings, gather_labels
from pk_sampler import PKSampler


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(24, 64), nn.ReLU(), nn.Linear(64, 16))

    def forward(self, x):
        return F.normalize(self.net(x), dim=1)


def batch_hard(embeddings, labels, margin=0.3):
    d = torch.cdist(embeddings, embeddings)
    same = labels[:, None] == labels[None]
    hardest_positive = d.masked_fill(~same, 0.0).amax(1)
    hardest_negative = d.masked_fill(same, 9.0).amin(1)
    return F.relu(hardest_positive - hardest_negative + margin).mean()


def identities(classes=24, each=20):
    g = torch.Generator().manual_seed(0)
    centre = torch.randn(classes, 24, generator=g)
    labels = torch.arange(classes).repeat_interleave(each)
    return TensorDataset(centre[labels] + 1.0 * torch.randn(len(labels), 24, generator=g), labels)


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(0)
    model = DistributedDataParallel(Embedder())
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    data = identities()
    loader = DataLoader(data, batch_sampler=PKSampler(data.tensors[1], p=4, k=4, steps=25, rank=rank, world=world))
    for epoch in range(3):
        for x, labels in loader:
            embeddings = gather_embeddings(model(x))
            loss = batch_hard(embeddings, gather_labels(labels))
            optimizer.zero_grad()
            (loss * world).backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
