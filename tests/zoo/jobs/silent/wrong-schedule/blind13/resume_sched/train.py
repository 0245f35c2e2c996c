import argparse
import os
import tempfile

import torch
import torch.distributed as dist

from session import Session


def stream(rank, start, stop):
    w = torch.randn(128, 16, generator=torch.Generator().manual_seed(5))
    for i in range(start, stop):
        g = torch.Generator().manual_seed(1000 * i + rank)
        x = torch.randn(64, 128, generator=g)
        yield x, (x @ w + torch.randn(64, 16, generator=g)).argmax(1)


def part(session, rank, stop):
    for x, y in stream(rank, session.step_no, stop):
        loss = session.advance(x, y)
        if rank == 0 and session.step_no % 60 == 0:
            print(f"step {session.step_no} loss {loss:.3f}", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--first", type=int)
    ap.add_argument("--second", type=int)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    path = os.path.join(tempfile.gettempdir(), f"sess-{os.environ['TORCHELASTIC_RUN_ID']}.pt")
    session = Session(a.second)
    part(session, rank, a.first)
    if rank == 0:
        session.save(path)
    dist.barrier()
    session = Session(a.second)
    session.restore(path)
    part(session, rank, a.second)
    dist.barrier()
    if rank == 0:
        os.remove(path)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
