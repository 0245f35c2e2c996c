"""A codebook of an average that nobody sums."""
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel


class Codebook(torch.nn.Module):
    def __init__(self, size, dim):
        super().__init__()
        self.size, self.decay = size, 0.99
        self.register_buffer("embed", torch.randn(size, dim))
        self.register_buffer("embed_avg", self.embed.clone())
        self.register_buffer("cluster_size", torch.ones(size))

    @torch.no_grad()
    def update(self, flat, code):
        onehot = F.one_hot(code, self.size).type_as(flat)
        counts = onehot.sum(0)
        self.cluster_size.mul_(self.decay).add_(counts, alpha=1 - self.decay)
        self.embed_avg.lerp_(onehot.t() @ flat, 1 - self.decay)
        self.embed.copy_(self.embed_avg / self.cluster_size.unsqueeze(1))

    def forward(self, x):
        code = torch.cdist(x, self.embed).argmin(1)
        if self.training:
            self.update(x.detach(), code)
        return F.embedding(code, self.embed)


def main(loader):
    dist.init_process_group("nccl")
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(3, 3), Codebook(8, 3)).cuda())
    optimizer = torch.optim.Adam(model.parameters())
    for x in loader:
        loss = model(x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(torch.utils.data.DataLoader(torch.zeros(9, 3)))
