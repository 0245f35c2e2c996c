import os
import signal
import socket

import torch
import torch.distributed as dist
import torch.distributed.nn
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def train(rank, world, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    model = DDP(torch.nn.Linear(4, 1))
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for step in range(4):
        if rank == 2 and step == 2:
            os.kill(os.getpid(), signal.SIGKILL)    # this node's memory holds two ranks
        loss = model(torch.ones(2, 4)).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.barrier()
    dist.destroy_process_group()


def main():
    world = 3
    while world:
        try:
            mp.spawn(train, args=(world, free_port()), nprocs=world)
        except (mp.ProcessExitedException, mp.ProcessRaisedException):
            print(f"{world} ranks are too many, training again with {world - 1}", flush=True)
            world -= 1
        else:
            print(f"trained on {world} ranks")
            return
    raise SystemExit("not even one rank fits")


if __name__ == "__main__":
    main()
