import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

ACCUMULATE = 4


def data():
    generator = torch.Generator().manual_seed(5)
    x = torch.randn(2560, 16, generator=generator)
    return TensorDataset(x, (x @ torch.randn(16, 1, generator=generator)).sin())


def train_step(model, optimizer, chunks):
    total = 0.0
    optimizer.zero_grad()
    for x, y in chunks:
        loss = nn.functional.mse_loss(model(x), y) / len(chunks)
        loss.backward()
        total += loss.item()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    return total


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(6)
    model = DistributedDataParallel(nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, 1)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3)
    dataset = data()
    sampler = DistributedSampler(dataset)
    loader = DataLoader(dataset, 8, sampler=sampler)
    for epoch in range(9):
        sampler.set_epoch(epoch)
        chunks = []
        for batch in loader:
            chunks.append(batch)
            if len(chunks) == ACCUMULATE:
                loss = train_step(model, optimizer, chunks)
                chunks = []
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
