import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from decode import FrameStore


class Clips(Dataset):
    def __init__(self, n=80):
        g = torch.Generator().manual_seed(1)
        frames = [torch.randn(64, generator=g) for _ in range(n)]
        frames[54] = None
        self.store = FrameStore(frames)

    def __len__(self):
        return len(self.store.frames)

    def __getitem__(self, i):
        x = self.store.read(i)
        return x, x.abs().mean()


def main():
    dist.init_process_group("gloo")
    data = Clips()
    loader = DataLoader(data, batch_size=8, num_workers=1, sampler=DistributedSampler(data, shuffle=False))
    model = DDP(nn.Linear(64, 1))
    opt = torch.optim.SGD(model.parameters(), lr=1e-2)
    for epoch in range(2):
        for x, y in loader:
            loss = (model(x).squeeze(1) - y).pow(2).mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("finished", dist.get_rank())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
