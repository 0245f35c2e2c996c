import os
import subprocess
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn


def score(state):
    folder = tempfile.mkdtemp()
    path = os.path.join(folder, "weights.pt")
    torch.save(state, path)
    done = subprocess.run([sys.executable, "score.py", path], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return float(done.stdout.split()[-1])


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    model = nn.parallel.DistributedDataParallel(nn.Linear(8, 1))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.02)
    for epoch in range(2):
        for _ in range(40):
            x = torch.randn(16, 8)
            loss = nn.functional.mse_loss(model(x), x[:, :1] * 3)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        result = [score(model.module.state_dict()) if rank == 0 else None]
        dist.broadcast_object_list(result, 0)
        print(f"rank {rank} epoch {epoch} score {result[0]:.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
