import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from bench.tuner import best_tile, can_compile


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    log = tempfile.NamedTemporaryFile("w", suffix=".log")
    panel = subprocess.Popen([sys.executable, "-m", "bench.panel", log.name]) if rank == 0 else None
    choice = [None]
    if rank == 0:
        choice = [{"fused": can_compile(), "tile": best_tile(256)}]
    dist.broadcast_object_list(choice)
    tile = choice[0]["tile"]

    model = DistributedDataParallel(nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 64)))
    opt = torch.optim.Adam(model.parameters(), lr=1e-3)
    g = torch.Generator().manual_seed(rank)
    rotate = torch.linalg.qr(torch.randn(64, 64, generator=torch.Generator().manual_seed(4)))[0]
    for step in range(60):
        x = torch.randn(tile, 64, generator=g)
        loss = nn.functional.mse_loss(model(x), x @ rotate)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0:
            print(f"{loss.item():.4f}", file=log, flush=True)
            if step % 20 == 19:
                print(f"step {step + 1} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    if panel is not None:
        panel.kill()
        panel.wait()
    dist.destroy_process_group()
    print(f"rank {rank} finished", flush=True)


if __name__ == "__main__":
    main()
