import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from remote import Bucket


class Objects(Dataset):
    def __init__(self, n):
        self.n, self.bucket = n, Bucket()

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        x = self.bucket.get(i)
        return x, (x[0] > 0).long()


def main():
    dist.init_process_group("gloo")
    data = Objects(128)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=8, sampler=sampler, num_workers=2, persistent_workers=True)
    model = DDP(nn.Linear(10, 2))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print(f"rank {dist.get_rank()} epoch {epoch} loss {loss.item():.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
