import argparse
import logging
import os
import threading

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP

from preempt import Notice, spot_market

log = logging.getLogger("spot")


class Writer:
    """Writes checkpoints in the background from copies; at most one at a time."""

    def __init__(self, path):
        self.path, self.thread, self.error = path, None, None

    def _write(self, state):
        try:
            torch.save(state, self.path + ".tmp")
            os.replace(self.path + ".tmp", self.path)
        except OSError as e:
            self.error = e

    def submit(self, state):
        self.wait()
        copy = {k: ({n: v.clone() for n, v in s.items()} if k == "model" else s) for k, s in state.items()}
        self.thread = threading.Thread(target=self._write, args=(copy,))
        self.thread.start()

    def wait(self):
        if self.thread is not None:
            self.thread.join()
            self.thread = None
        if self.error:
            raise self.error


def batch(step, rank, n=32):
    g = torch.Generator().manual_seed(step * 2 + rank)
    x = torch.randn(n, 8, generator=g)
    return x, torch.sin(x.sum(1, keepdim=True)) + 0.05 * torch.randn(n, 1, generator=g)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--state", default="state")
    p.add_argument("--steps", type=int, default=150)
    p.add_argument("--notice-at", type=int, default=60)
    p.add_argument("--save-every", type=int, default=25)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(asctime)s %(message)s")
    notice = Notice()
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(8, 64), nn.Tanh(), nn.Linear(64, 1))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.05)
    path = os.path.join(args.state, "last.pt")
    first = 0
    if os.path.exists(path):
        state = torch.load(path)
        net.load_state_dict(state["model"])
        first = state["step"]
        log.info("going on at step %d", first)
    model, writer = DDP(net), Writer(path)
    taken_back = False
    for step in range(first, args.steps):
        x, y = batch(step, rank)
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        spot_market(step, args.notice_at, rank)
        taken_back = notice.agreed()
        if rank == 0 and (taken_back or (step + 1) % args.save_every == 0):
            writer.submit({"model": net.state_dict(), "step": step + 1})
        if step % 25 == 0:
            log.info("step %d loss %.4f", step, loss.item())
        if taken_back:
            log.info("notice at step %d, leaving", step)
            break
    if rank == 0:
        writer.wait()
        if not taken_back:
            torch.save(net.state_dict(), os.path.join(args.state, "finished"))
    dist.barrier()
    del model  # reducers go before the group that they use
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
