import os
import signal
from pathlib import Path

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Snapshot:
    def __init__(self, model, optim):
        self.model, self.optim = model, optim
        self.path = Path(os.environ["SNAPSHOT_DIR"]) / "last.pt"

    def save(self, step):
        if dist.get_rank() == 0:
            part = self.path.with_suffix(".part")
            torch.save({"step": step, "model": self.model.state_dict(), "optim": self.optim.state_dict()}, part)
            os.replace(part, self.path)
        dist.barrier()

    def load(self):
        if not self.path.exists():
            return 0
        blob = torch.load(self.path)
        self.model.load_state_dict(blob["model"])
        self.optim.load_state_dict(blob["optim"])
        return blob["step"]


def preempted(step):
    return dist.get_rank() == 1 and step == 37 and os.environ["ATTEMPT"] == "1"


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(torch.nn.Sequential(torch.nn.Linear(6, 18), torch.nn.ReLU(), torch.nn.Linear(18, 1)))
    optim = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    snapshot = Snapshot(model.module, optim)
    first = snapshot.load()
    if rank == 0:
        print(f"starting at step {first}", flush=True)
    for step in range(first, 80):
        gen = torch.Generator().manual_seed(1000 * step + rank)
        x = torch.randn(16, 6, generator=gen)
        loss = (model(x).squeeze(1) - x.sum(1)).square().mean()
        optim.zero_grad()
        loss.backward()
        optim.step()
        if step % 10 == 9:
            snapshot.save(step + 1)
        if preempted(step):
            os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        print(f"done, loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
