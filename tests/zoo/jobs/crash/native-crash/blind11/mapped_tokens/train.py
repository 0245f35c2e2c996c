import torch
import torch.distributed as dist
from torch import nn

from tokens import TokenFile


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    tokens = TokenFile(rank)
    model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(100, 16), nn.Linear(16, 100)))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for epoch in range(4):
        tokens.refresh(epoch)
        for _ in range(20):
            x, y = tokens.batch(8, 32)
            loss = nn.functional.cross_entropy(model(x).flatten(0, 1), y.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
