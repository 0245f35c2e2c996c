import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from corpus_data import build_or_load


class main_process_first:
    def __enter__(self):
        if dist.get_rank() != 0:
            dist.barrier()

    def __exit__(self, *exc):
        if dist.get_rank() == 0:
            dist.barrier()


def train():
    dist.init_process_group("gloo")
    with main_process_first():
        data, size = build_or_load()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    model = DDP(nn.Sequential(nn.Embedding(size, 16), nn.Linear(16, size)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        for (tok,) in loader:
            out = model(tok[:, :-1])
            loss = nn.functional.cross_entropy(out.flatten(0, 1), tok[:, 1:].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
    print("rank", dist.get_rank(), "loss", loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    train()
