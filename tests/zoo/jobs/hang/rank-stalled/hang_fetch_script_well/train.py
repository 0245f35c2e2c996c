import subprocess
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel


def fetch(shard):
    """Shards are staged by a script of the cluster."""
    done = subprocess.run(["sh", "fetch_shard.sh", str(shard), "staging"], capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return torch.tensor([float(v) for v in done.stdout.split()])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DistributedDataParallel(torch.nn.Linear(1, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.01)
    for round_ in range(3):
        rows = fetch(2 * round_ + rank)[:, None]
        for _ in range(10):
            loss = (model(rows) - 2 * rows).square().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
        if rank == 0:
            print(f"round {round_} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
