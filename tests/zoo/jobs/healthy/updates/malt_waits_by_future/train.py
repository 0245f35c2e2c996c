import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset


def average(model):
    for p in model.parameters():
        p.grad /= dist.get_world_size()
    works = [dist.all_reduce(p.grad, async_op=True) for p in model.parameters()]
    torch.futures.wait_all([work.get_future() for work in works])


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(10)
    x = torch.randn(2400, 24)
    dataset = TensorDataset(x, x[:, :6].argmax(1))
    model = nn.Sequential(nn.Linear(24, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    sampler = DistributedSampler(dataset)
    for epoch in range(4):
        sampler.set_epoch(epoch)
        for x, y in DataLoader(dataset, 12, sampler=sampler):
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            average(model)
            optimizer.step()
        dist.barrier()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
