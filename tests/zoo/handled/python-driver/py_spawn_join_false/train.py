import socket
import sys

import torch
import torch.distributed as dist
import torch.distributed.nn
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel as DDP


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def train(rank, world, port, static_graph):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=world)
    torch.manual_seed(0)
    a, b = torch.nn.Linear(4, 4), torch.nn.Linear(4, 4)
    model = DDP(torch.nn.ModuleDict({"a": a, "b": b}), find_unused_parameters=not static_graph)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)

    def forward(self, x, step):
        return self["a"](x) if step % 2 else self["b"](x)

    torch.nn.ModuleDict.forward = forward
    for step in range(4):
        loss = model(torch.ones(2, 4), step).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    dist.barrier()
    dist.destroy_process_group()


def main():
    for fast in (True, False):
        context = mp.spawn(train, args=(2, free_port(), fast), nprocs=2, join=False)
        try:
            while not context.join(timeout=60):
                pass
        except mp.ProcessRaisedException as error:
            if "Expected to have finished reduction" not in str(error):
                raise
            print("unused parameters: once more with find_unused_parameters", flush=True)
            continue
        print("trained")
        return 0
    return 1


if __name__ == "__main__":
    sys.exit(main())
