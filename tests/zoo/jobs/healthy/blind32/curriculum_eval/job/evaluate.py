import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler


@torch.no_grad()
def evaluate(net, data):
    """The sampler pads the last round; indices tell which samples were counted before."""
    net.eval()
    sampler = DistributedSampler(data, shuffle=False)
    rows = []
    for x, y, i in DataLoader(data, batch_size=64, sampler=sampler):
        rows.append(torch.stack([i, net(x).argmax(1), y], 1))
    net.train()
    everything = [None] * dist.get_world_size() if dist.get_rank() == 0 else None
    dist.gather_object(torch.cat(rows), everything, dst=0)
    box = [None]
    if dist.get_rank() == 0:
        seen = {int(i): int(p == y) for i, p, y in torch.cat(everything).tolist()}
        assert len(seen) == len(data)
        box[0] = sum(seen.values()) / len(seen)
    dist.broadcast_object_list(box, src=0)
    return box[0]
