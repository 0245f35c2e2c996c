import os
import socket

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from flows.layers import Flow
from flows.sensors import readings

DEFAULTS = {"dim": 8, "steps": 6, "hidden": 64, "batch": 16, "epochs": 4, "lr": 1e-3, "train": 4096, "test": 2048}


def evaluate(flow, data):
    flow.eval()
    with torch.no_grad():
        nll = -flow(data).mean()
    flow.train()
    return nll


def worker(rank, world, port, cfg):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port))
    dist.init_process_group("gloo", rank=rank, world_size=world)
    torch.manual_seed(11)
    train = TensorDataset(readings(cfg["train"], 0))
    test = readings(cfg["test"], 1)
    sampler = DistributedSampler(train, world, rank, seed=7)
    loader = DataLoader(train, batch_size=cfg["batch"], sampler=sampler, drop_last=True)

    flow = Flow(cfg["dim"], cfg["steps"], cfg["hidden"])
    model = DistributedDataParallel(flow)
    optimizer = torch.optim.Adamax(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for (x,) in loader:
            nll = -model(x).mean()
            optimizer.zero_grad(set_to_none=True)
            nll.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 5.0)
            optimizer.step()
        if rank == 0:
            print(f"epoch {epoch + 1}: nll {nll.item():.3f}  test {evaluate(flow, test).item():.3f}", flush=True)

    if rank == 0:
        torch.save(flow.state_dict(), os.path.join(cfg["out"], "flow.pt"))
        print(f"saved, test nll {evaluate(flow, test).item():.3f} nats")
    dist.barrier()
    dist.destroy_process_group()


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


if __name__ == "__main__":
    out = os.path.join(os.path.dirname(os.path.abspath(__file__)), "runs")
    os.makedirs(out, exist_ok=True)
    mp.spawn(worker, args=(2, free_port(), {**DEFAULTS, "out": out}), nprocs=2)
