import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from net.fetch import Unreadable, load, log
from net.server import serve

SHARDS = 12


def rows(base, rank, world):
    """All readable rows of this rank, cut to what the poorest rank has."""
    parts = []
    for index in range(rank, SHARDS, world):
        try:
            parts.append(torch.from_numpy(load(f"{base}/{index}.npy.gz")))
        except Unreadable:
            log.exception("shard %d is left out", index)
    data = torch.cat(parts)
    count = torch.tensor(len(data))
    dist.all_reduce(count, op=dist.ReduceOp.MIN)
    return data[: int(count)]


def main():
    logging.basicConfig(format="%(levelname)s %(message)s")
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    server = serve() if rank == 0 else None
    box = [f"http://127.0.0.1:{server.server_address[1]}" if server else None]
    dist.broadcast_object_list(box)
    data = rows(box[0], rank, world)
    torch.manual_seed(0)
    model = DDP(nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 1)))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(6):
        order = torch.randperm(len(data), generator=torch.Generator().manual_seed(10 * epoch + rank))
        for part in order.split(40):
            x, y = data[part, :16], data[part, 16:] * 0.1 + data[part, :1]
            loss = nn.functional.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch} mse {loss.item():.4f} on {len(data)} rows a rank", flush=True)
    dist.barrier()
    if server:
        server.shutdown()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
