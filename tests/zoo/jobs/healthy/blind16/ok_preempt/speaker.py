import argparse
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

import state
from notice import DrainNotice, rehearse


class Trunk(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Conv1d(20, 32, 5)
        self.mid = nn.Conv1d(32, 48, 3)
        self.emb = nn.Linear(48, 24)
        self.cls = nn.Linear(24, 12)
        for p in self.front.parameters():
            p.requires_grad_(False)

    def forward(self, x):
        h = torch.relu(self.mid(torch.relu(self.front(x)))).mean(2)
        return self.cls(self.emb(h))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--ckpt", default="speaker.ckpt")
    ap.add_argument("--until", type=int, default=200)
    ap.add_argument("--notice-at", type=int, default=-1)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    net = DDP(Trunk())
    opt = torch.optim.AdamW([p for p in net.parameters() if p.requires_grad], lr=2e-3)
    first = state.load(a.ckpt, net, opt)
    centre = torch.randn(12, 20, 1, generator=torch.Generator().manual_seed(2))
    note = DrainNotice(5)
    for step in range(first, a.until):
        g = torch.Generator().manual_seed(step * 2 + rank)
        y = torch.randint(0, 12, (24,), generator=g)
        loss = nn.functional.cross_entropy(net(centre[y] + torch.randn(24, 20, 60, generator=g)), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        rehearse(step, a.notice_at, rank)
        if rank == 0 and step % 50 == 0:
            print(f"step {step} loss {loss.item():.3f}", flush=True)
        if note.due(step):
            state.save(a.ckpt, net, opt, step + 1)
            if rank == 0:
                print(f"drained after step {step}", flush=True)
            break
    else:
        state.save(a.ckpt, net, opt, a.until)
        if rank == 0:
            time.sleep(1.5)
            print("exported", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
