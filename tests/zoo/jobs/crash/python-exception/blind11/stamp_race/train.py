import os
import tempfile

import torch
import torch.distributed as dist
from torch import nn

from checkpoint import CheckpointManager


def main():
    dist.init_process_group("gloo")
    folder = [tempfile.mkdtemp() if dist.get_rank() == 0 else None]
    dist.broadcast_object_list(folder, 0)
    manager = CheckpointManager(os.path.join(folder[0], "checkpoints"))
    model = nn.parallel.DistributedDataParallel(nn.Linear(5, 5))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for stage, rate in enumerate((1e-2, 1e-3)):
        if stage:
            manager.load(20, model, optimizer)
        for group in optimizer.param_groups:
            group["lr"] = rate
        for step in range(1, 21):
            x = torch.randn(32, 5)
            loss = (model(x) - 2 * x).pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        manager.save(step, model, optimizer)
        print(f"rank {dist.get_rank()} stage {stage} done", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
