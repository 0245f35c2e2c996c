import torch
import torch.distributed as dist
from torch.utils.data import DataLoader



def predict(net, loader):
    parts = []
    for x, _ in loader:
        parts.append(net(x).argmax(1))
    mine = torch.cat(parts)
    everyone = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(everyone, mine)
    return torch.cat(everyone)


def main(net, samples):
    rank, world = dist.get_rank(), dist.get_world_size()
    loader = DataLoader(samples[rank::world], batch_size=16)
    return predict(net, loader)
