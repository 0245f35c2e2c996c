import argparse
from collections import deque

import torch
import torch.distributed as dist
from torch import nn
import torch.nn.functional as F


class Channel:
    """Exchange with a neighbouring stage; shapes travel ahead of the tensors."""

    def __init__(self, dim):
        self.dim = dim

    def _run(self, ops):
        for work in dist.batch_isend_irecv(ops):
            work.wait()

    def exchange(self, out=None, to=None, source=None):
        ops, recv_rows, buf = [], None, None
        if out is not None:
            ops.append(dist.P2POp(dist.isend, torch.tensor([out.shape[0]]), to))
        if source is not None:
            recv_rows = torch.zeros(1, dtype=torch.long)
            ops.append(dist.P2POp(dist.irecv, recv_rows, source))
        self._run(ops)
        ops = []
        if out is not None:
            ops.append(dist.P2POp(dist.isend, out.detach().contiguous(), to))
        if source is not None:
            buf = torch.empty(int(recv_rows), self.dim)
            ops.append(dist.P2POp(dist.irecv, buf, source))
        self._run(ops)
        return buf


class FirstStage:
    def __init__(self, module, channel, peer):
        self.module, self.ch, self.peer = module, channel, peer

    def run(self, chunks, _targets):
        held = deque()
        out = self.module(chunks[0])
        self.ch.exchange(out=out, to=self.peer)
        held.append(out)
        for x in chunks[1:]:
            out = self.module(x)
            held.append(out)
            # forward of this chunk goes out while the gradient of the one before comes in
            first = held.popleft()
            first.backward(self.ch.exchange(out=out, to=self.peer, source=self.peer))
        first = held.popleft()
        first.backward(self.ch.exchange(source=self.peer))
        return None


class LastStage:
    def __init__(self, module, channel, peer):
        self.module, self.ch, self.peer = module, channel, peer

    def run(self, chunks, targets):
        total = sum(len(t) for t in targets)
        x = self.ch.exchange(source=self.peer)
        summed = 0.0
        for i, y in enumerate(targets):
            x.requires_grad_()
            loss = F.cross_entropy(self.module(x), y, reduction="sum") / total
            loss.backward()
            summed += loss.item()
            if i + 1 < len(targets):
                x = self.ch.exchange(out=x.grad, to=self.peer, source=self.peer)
            else:
                self.ch.exchange(out=x.grad, to=self.peer)
        return summed


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=80)
    p.add_argument("--batch", type=int, default=58)
    p.add_argument("--chunk", type=int, default=16)
    p.add_argument("--dim", type=int, default=32)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(40 + rank)
    ch = Channel(args.dim)
    if rank == 0:
        module = nn.Sequential(nn.Linear(12, args.dim), nn.ReLU(), nn.Linear(args.dim, args.dim))
        stage = FirstStage(module, ch, 1)
    else:
        module = nn.Sequential(nn.ReLU(), nn.Linear(args.dim, args.dim), nn.ReLU(), nn.Linear(args.dim, 3))
        stage = LastStage(module, ch, 0)
    optimizer = torch.optim.Adam(module.parameters(), lr=4e-3)
    g = torch.Generator().manual_seed(8)
    w = torch.randn(12, 3, generator=g)
    for step in range(args.steps):
        x = torch.randn(args.batch, 12, generator=g)
        y = (x @ w).argmax(1)
        optimizer.zero_grad()
        loss = stage.run(x.split(args.chunk), y.split(args.chunk))
        optimizer.step()
        if loss is not None and step % 20 == 0:
            print(f"step {step} loss {loss:.4f}", flush=True)
    torch.save(module.state_dict(), f"stage{rank}.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
