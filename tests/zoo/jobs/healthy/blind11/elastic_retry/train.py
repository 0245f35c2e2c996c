import os
import sys
import tempfile

import torch
import torch.distributed as dist
from torch import nn

FOLDER = os.path.join(tempfile.gettempdir(), "elastic-" + os.environ["TORCHELASTIC_RUN_ID"])


def main():
    dist.init_process_group("gloo")
    rank, attempt = dist.get_rank(), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    os.makedirs(FOLDER, exist_ok=True)
    path = os.path.join(FOLDER, "snapshot.pt")
    model = nn.Linear(6, 1)
    start = 0
    if os.path.exists(path):
        snapshot = torch.load(path, weights_only=True)
        model.load_state_dict(snapshot["model"])
        start = snapshot["step"]
        print(f"rank {rank} goes on at step {start}", flush=True)
    model = nn.parallel.DistributedDataParallel(model)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(start, 60):
        x = torch.randn(16, 6)
        loss = nn.functional.mse_loss(model(x), x.sum(1, keepdim=True))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 20 == 0:
            if rank == 0:
                torch.save({"model": model.module.state_dict(), "step": step + 1}, path)
            dist.barrier()
        if attempt == 0 and step == 45:
            print(f"rank {rank}: spot node is taken away", flush=True)
            dist.barrier()
            sys.exit(11)
    print(f"rank {rank} finished, loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


main()
