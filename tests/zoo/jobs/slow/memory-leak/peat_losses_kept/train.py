import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    depth = torch.randn(2560, 64, generator=torch.Generator().manual_seed(5))
    data = TensorDataset(depth, depth.mean(1, keepdim=True))
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=64, sampler=sampler)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 1024), nn.Tanh(), nn.Linear(1024, 1024), nn.Tanh(), nn.Linear(1024, 1)))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    history = []
    for epoch in range(14):
        sampler.set_epoch(epoch)
        for depth, mean in loader:
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(model(depth), mean)
            loss.backward()
            optimizer.step()
            history.append(loss)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {sum(history[-20:]) / 20:.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
