import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    depth = torch.randn(2560, 32, generator=torch.Generator().manual_seed(5))
    data = TensorDataset(depth, depth.mean(1, keepdim=True))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=64, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(32, 16), nn.Tanh(), nn.Linear(16, 8192)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    layers = []
    for epoch in range(6):
        sampler.set_epoch(epoch)
        for depth, mean in loader:
            optimizer.zero_grad()
            prediction = model(depth)
            loss = nn.functional.mse_loss(prediction.mean(1, keepdim=True), mean)
            loss.backward()
            optimizer.step()
            layers.append(prediction.mean().item())
            time.sleep(0.05)  # stands for a device that computes
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f} layers {len(layers)}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
