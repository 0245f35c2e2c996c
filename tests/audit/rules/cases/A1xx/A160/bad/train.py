"""Each worker of each rank augments from the same numpy seed."""
import numpy as np
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class Crops(Dataset):
    def __init__(self, images):
        self.images = images

    def __len__(self):
        return len(self.images)

    def __getitem__(self, at):
        top = np.random.randint(0, 8)
        return torch.from_numpy(self.images[at][top : top + 24].copy())


def worker_init(worker_id):
    np.random.seed(1234)  # cause


def main():
    dist.init_process_group("gloo")
    images = np.zeros((64, 32, 32), dtype=np.float32)
    data = Crops(images)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=4, sampler=sampler, num_workers=2, worker_init_fn=worker_init)
    model = DDP(torch.nn.Linear(32, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for batch in loader:
            opt.zero_grad()
            model(batch).mean().backward()
            opt.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
