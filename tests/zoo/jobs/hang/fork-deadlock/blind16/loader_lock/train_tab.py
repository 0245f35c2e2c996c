import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset
from torch.utils.data.distributed import DistributedSampler

from store import FeatureStore


class Claims(Dataset):
    def __init__(self, store, n):
        self.store, self.n = store, n

    def __len__(self):
        return self.n

    def __getitem__(self, i):
        x = self.store.get(i)
        return x, (x[:3].sum() > 0).long()


def main():
    dist.init_process_group("gloo")
    ds = Claims(FeatureStore(800), 800)
    sampler = DistributedSampler(ds)
    loader = DataLoader(ds, batch_size=20, sampler=sampler, num_workers=2, multiprocessing_context="fork")
    torch.manual_seed(0)
    net = DDP(nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2)))
    opt = torch.optim.SGD(net.parameters(), lr=0.1)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for x, y in loader:
            loss = F.cross_entropy(net(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        print("epoch", epoch, round(loss.item(), 4), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
