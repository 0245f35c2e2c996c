import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

THREADS = 1


def main():
    dist.init_process_group("gloo")
    torch.set_num_threads(THREADS)
    torch.manual_seed(0)
    stalks = torch.randn(2560, 256, generator=torch.Generator().manual_seed(5))
    data = TensorDataset(stalks, stalks.mean(1, keepdim=True))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    width = 768
    layers = [nn.Linear(256, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1)]
    model = DistributedDataParallel(nn.Sequential(*layers))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for stalks, mean in loader:
            optimizer.zero_grad()
            nn.functional.mse_loss(model(stalks), mean).backward()
            optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
