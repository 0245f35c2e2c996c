import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn import functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from model import Tagger
from parallel import wrap


def sentences():
    g = torch.Generator().manual_seed(8)
    tokens = torch.randint(0, 500, (960, 12), generator=g)
    tags = (tokens + tokens.roll(1, dims=1)) % 6
    return TensorDataset(tokens, tags)


def work(rank, world, meeting):
    dist.init_process_group("gloo", init_method=f"file://{meeting}", rank=rank, world_size=world)
    torch.manual_seed(0)
    data = sentences()
    sampler = DistributedSampler(data, seed=1)
    loader = DataLoader(data, batch_size=8, sampler=sampler)
    model = wrap(Tagger(), skip=("embed",))
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=3e-3)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for tokens, tags in loader:
            loss = F.cross_entropy(model(tokens).flatten(0, 1), tags.flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    meeting = os.path.join("/tmp", f"meeting-{os.getpid()}")
    try:
        mp.spawn(work, args=(2, meeting), nprocs=2)
    finally:
        if os.path.exists(meeting):
            os.remove(meeting)
