import os
from pathlib import Path

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

SNAP = Path(os.environ["SNAPSHOT"])


def main():
    dist.init_process_group("gloo")
    rank, attempt = dist.get_rank(), int(os.environ["ATTEMPT"])
    net, start = nn.Linear(4, 1), 0
    if SNAP.exists():
        state = torch.load(SNAP)
        net.load_state_dict(state["net"])
        start = state["step"]
    print(f"rank {rank} attempt {attempt} from step {start}", flush=True)
    model = DDP(net)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(start, 60):
        x = torch.randn(8, 4)
        loss = (model(x) - x.mean(1, keepdim=True)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step % 10 == 9:
            if rank == 0:
                torch.save({"net": net.state_dict(), "step": step + 1}, SNAP)
            dist.barrier()
        if attempt == 0 and rank == 1 and step == 34:
            raise OSError(5, "Input/output error: /mnt/scratch")
    print(f"rank {rank} done, loss {loss.item():.4f}")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
