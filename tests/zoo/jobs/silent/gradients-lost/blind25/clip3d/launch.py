import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.utils.data import DataLoader, DistributedSampler

from src.comm import average_gradients, broadcast_parameters
from src.encoders import DuoModel
from src.losses import contrastive
from src.shapes import Shapes


@torch.no_grad()
def retrieval(model, data):
    p, t, _ = model(data.points, data.tokens)
    rank_of_true = (p @ t.t()).argsort(1, descending=True)
    hits = rank_of_true[:, :5] == torch.arange(len(p))[:, None]
    return hits.any(1).float().mean().item()


def worker(rank, world, port, epochs):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(100 + rank)
    model = DuoModel()
    broadcast_parameters(model)
    opt = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.01)
    data = Shapes(4096, 0)
    sampler = DistributedSampler(data, world, rank, drop_last=True)
    loader = DataLoader(data, batch_size=64, sampler=sampler, drop_last=True)
    val = Shapes(256, 1)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for pts, tokens in loader:
            loss = contrastive(*model(pts, tokens))
            opt.zero_grad()
            loss.backward()
            average_gradients(model)
            opt.step()
        if rank == 0:
            print(f"epoch {epoch} | loss {loss.item():.4f} | top5 {retrieval(model, val):.3f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        free_port = s.getsockname()[1]
    mp.spawn(worker, args=(2, free_port, 4), nprocs=2)
