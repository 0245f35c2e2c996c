import logging
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

log = logging.getLogger("train")


def check_in(timeout_s=3.0):
    """Tells who is slow; training does not depend on it."""
    group = dist.new_group(backend="gloo")
    if dist.get_rank() == 1:
        time.sleep(9)  # warms its page cache
    try:
        dist.monitored_barrier(group, timeout=timedelta(seconds=timeout_s), wait_all_ranks=True)
    except RuntimeError as error:
        log.warning("rank %d: somebody is slow (%s)", dist.get_rank(), str(error).splitlines()[0][:80])


def main():
    logging.basicConfig()
    dist.init_process_group("gloo", timeout=timedelta(minutes=10))
    torch.manual_seed(0)
    model = DDP(nn.Linear(10, 1))
    check_in()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(60):
        loss = model(torch.randn(8, 10)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"rank {dist.get_rank()} loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
