import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


def signals(seed, batches):
    generator = torch.Generator().manual_seed(seed)
    for _ in range(batches):
        x = torch.randn(12, 1, 32, generator=generator)
        yield x, (x.mean((1, 2)) > 0).long()


def build():
    return nn.Sequential(
        nn.Conv1d(1, 8, 5), nn.BatchNorm1d(8), nn.ReLU(), nn.AdaptiveAvgPool1d(4), nn.Flatten(), nn.Linear(32, 2)
    )


def evaluate(model):
    right = 0
    with torch.no_grad():
        for x, y in signals(99, 8):
            right += (model(x).argmax(1) == y).sum().item()
    return right / 96


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    model = DistributedDataParallel(build())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    for epoch in range(3):
        for x, y in signals(10 * epoch + rank, 15):
            loss = nn.functional.cross_entropy(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        accuracy = evaluate(model.module)
        if rank == 0:
            print(f"epoch {epoch}: {accuracy:.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
