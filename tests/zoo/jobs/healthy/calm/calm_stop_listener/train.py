import threading
import time
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP


def listen(group, stopped):
    message = torch.zeros(1)
    dist.recv(message, src=0, group=group)
    stopped.set()


def main():
    dist.init_process_group("gloo", timeout=timedelta(minutes=30))
    rank = dist.get_rank()
    control = dist.new_group(backend="gloo", timeout=timedelta(hours=6))
    stopped = threading.Event()
    listener = threading.Thread(target=listen, args=(control, stopped))
    if rank == 1:
        listener.start()
    torch.manual_seed(0)
    model = DDP(nn.Linear(10, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(3):
        for step in range(20):
            loss = model(torch.randn(8, 10)).square().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if rank == 0:
            time.sleep(6)  # validation
        dist.barrier()
    if rank == 0:
        dist.send(torch.ones(1), dst=1, group=control)
    else:
        listener.join()
        print(f"told to stop: {stopped.is_set()}, loss {loss.item():.4f}", flush=True)
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
