"""Chaos test of the elastic job: rank 1 is killed in the first round, the second must go on from the checkpoint."""
import os
import signal

import torch
import torch.distributed as dist
import torch.distributed.nn
from torch.nn.parallel import DistributedDataParallel as DDP

PATH = "elastic.pt"


def main():
    dist.init_process_group("gloo")
    rank, attempt = dist.get_rank(), int(os.environ["TORCHELASTIC_RESTART_COUNT"])
    torch.manual_seed(0)
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    start = 0
    if os.path.exists(PATH):
        state = torch.load(PATH)
        model.module.load_state_dict(state["model"])
        start = state["step"]
    for step in range(start, 6):
        loss = model(torch.ones(2, 4)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
        if rank == 0:
            torch.save({"model": model.module.state_dict(), "step": step + 1}, PATH + ".tmp")
            os.replace(PATH + ".tmp", PATH)
        dist.barrier()
        if attempt == 0 and rank == 1 and step == 2:
            os.kill(os.getpid(), signal.SIGKILL)
    if rank == 0:
        print(f"went on from step {start}, finished 6", flush=True)
        assert attempt == 1 and start > 0
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
