import argparse
import os
import signal

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from background import BackgroundSaver


class BadSample(ValueError):
    pass


def fetch(step, rank, size=16):
    g = torch.Generator().manual_seed(step * 2 + rank)
    x = torch.randn(size, 8, generator=g)
    if rank == 0 and step % 37 == 5:
        raise BadSample(f"record {step} cannot be decoded")
    return x, x.pow(2).sum(1, keepdim=True).sqrt()


def all_agree(flag, op):
    t = torch.tensor([int(flag)])
    dist.all_reduce(t, op=op)
    return bool(t.item())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--folder", default="state")
    p.add_argument("--steps", type=int, default=120)
    p.add_argument("--save-every", type=int, default=25)
    p.add_argument("--attempt", type=int, default=1)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    os.makedirs(args.folder, exist_ok=True)
    notice = []
    signal.signal(signal.SIGUSR1, lambda *_: notice.append(True))

    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 48), nn.SiLU(), nn.Linear(48, 1))
    optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
    saver = BackgroundSaver(args.folder)
    start = 0
    state = saver.load()
    if state is not None:
        net.load_state_dict(state["net"])
        optimizer.load_state_dict(state["optimizer"])
        start = state["step"]
    model = DDP(net)

    def snapshot(step):
        saver.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step}, step)

    step = start
    while step < args.steps:
        try:
            x, y = fetch(step, rank)
            usable = True
        except BadSample as exc:
            print(f"rank {rank}: {exc}", flush=True)
            usable = False
        if all_agree(usable, dist.ReduceOp.MIN):
            loss = F.mse_loss(model(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        step += 1
        if step % args.save_every == 0:
            snapshot(step)
        if args.attempt == 1 and rank == 1 and step == 60:
            os.kill(os.getpid(), signal.SIGUSR1)  # what the scheduler of spot machines would send
        if all_agree(bool(notice), dist.ReduceOp.MAX):
            snapshot(step)
            break
        if rank == 0 and step % 20 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    saver.wait()
    dist.barrier()
    if rank == 0 and step >= args.steps:
        open(os.path.join(args.folder, "DONE"), "w").close()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
