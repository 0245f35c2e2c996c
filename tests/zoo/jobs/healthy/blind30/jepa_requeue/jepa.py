"""Predicts the embedding of the right half of a sequence from the left half, target encoder by EMA."""
import argparse
import copy
import os
import signal

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP


class Encoder(nn.Module):
    def __init__(self, inp, dim):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(inp, 64), nn.GELU(), nn.Linear(64, dim))

    def forward(self, x):
        return F.layer_norm(self.net(x), (self.net[-1].out_features,))


class Student(nn.Module):
    def __init__(self, inp=16, dim=24):
        super().__init__()
        self.encoder = Encoder(inp, dim)
        self.predictor = nn.Sequential(nn.Linear(dim, 64), nn.GELU(), nn.Linear(64, dim))

    def forward(self, left):
        return self.predictor(self.encoder(left))


class StopRequest:
    """Any rank may be signalled; all ranks hear of it at the end of the same step."""

    def __init__(self):
        self.local = False
        signal.signal(signal.SIGUSR1, self._on_signal)

    def _on_signal(self, signum, frame):
        print(f"signal {signum} on rank {dist.get_rank()}", flush=True)
        self.local = True

    def agreed(self):
        flag = torch.tensor([int(self.local)])
        dist.all_reduce(flag, op=dist.ReduceOp.MAX)
        return bool(flag.item())


def waves(n, generator, length=32):
    t = torch.linspace(0, 1, length)
    f = 1 + 4 * torch.rand(n, 1, generator=generator)
    ph = 6.28 * torch.rand(n, 1, generator=generator)
    x = torch.sin(6.28 * f * t + ph) + 0.05 * torch.randn(n, length, generator=generator)
    return x.chunk(2, 1)


def save(path, step, student, target, opt, rank):
    if rank == 0:
        state = {"step": step, "student": student.state_dict(), "target": target.state_dict(), "opt": opt.state_dict()}
        torch.save(state, path + ".tmp")
        os.replace(path + ".tmp", path)
    dist.barrier()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--out", default="exp")
    p.add_argument("--steps", type=int, default=1500)
    p.add_argument("--save-every", type=int, default=100)
    p.add_argument("--batch-size", type=int, default=64)
    p.add_argument("--lr", type=float, default=1e-3)
    p.add_argument("--ema", type=float, default=0.996)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.set_num_threads(1)
    stop = StopRequest()
    with open(os.path.join(args.out, f"rank{rank}.pid"), "w") as f:
        f.write(str(os.getpid()))

    torch.manual_seed(0)
    student = Student()
    target = copy.deepcopy(student.encoder).requires_grad_(False)
    opt = torch.optim.AdamW(student.parameters(), lr=args.lr)
    path, first = os.path.join(args.out, "ckpt.pt"), 0
    have = [os.path.exists(path) if rank == 0 else None]
    dist.broadcast_object_list(have, src=0)
    if have[0]:
        state = torch.load(path)
        student.load_state_dict(state["student"])
        target.load_state_dict(state["target"])
        opt.load_state_dict(state["opt"])
        first = state["step"]
    model = DDP(student)
    gen = torch.Generator().manual_seed(1000 * first + rank)
    if rank == 0:
        print(f"training from step {first} to {args.steps}", flush=True)

    for step in range(first, args.steps):
        left, right = waves(args.batch_size, gen)
        loss = F.smooth_l1_loss(model(left), target(right))
        opt.zero_grad()
        loss.backward()
        opt.step()
        with torch.no_grad():
            for t, s in zip(target.parameters(), student.encoder.parameters()):
                t.lerp_(s, 1 - args.ema)
        if rank == 0 and step % 100 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if stop.agreed():
            save(path, step + 1, student, target, opt, rank)
            if rank == 0:
                open(os.path.join(args.out, "requeue"), "w").close()
                print(f"stopped after step {step}", flush=True)
            break
        if (step + 1) % args.save_every == 0:
            save(path, step + 1, student, target, opt, rank)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
