import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from initialize import initialize_distributed, load_cluster


def get_batch(size=4, length=12):
    return torch.randint(0, 64, (size, length))


def pretrain():
    rank, world = initialize_distributed(load_cluster())
    model = DistributedDataParallel(nn.Sequential(nn.Embedding(64, 32), nn.Linear(32, 64)))
    optimizer = torch.optim.AdamW(model.parameters())
    for iteration in range(50):
        tokens = get_batch()
        loss = nn.functional.cross_entropy(model(tokens[:, :-1]).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if rank == 0 and iteration % 10 == 0:
            print(f"iteration {iteration} of {world} ranks: {loss.item():.3f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    pretrain()
