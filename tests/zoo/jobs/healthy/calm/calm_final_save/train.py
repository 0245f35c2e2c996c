import io
import os
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def export(net, path, piece=256):
    """Writes through the object store's gateway: small pieces, each acknowledged."""
    buffer = io.BytesIO()
    torch.save(net.state_dict(), buffer)
    data = buffer.getvalue()
    with open(path, "wb") as out:
        for start in range(0, len(data), piece):
            out.write(data[start : start + piece])
            out.flush()
            os.fsync(out.fileno())
            time.sleep(20 * piece / len(data))


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(20, 40), nn.ReLU(), nn.Linear(40, 2))
    model = DDP(net)
    optimizer = torch.optim.Adam(model.parameters())
    for step in range(60):
        loss = model(torch.randn(16, 20)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"rank {rank} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)
    if rank == 0:
        export(net, "model.pt")


if __name__ == "__main__":
    main()
