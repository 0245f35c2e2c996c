import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from bootstrap import tokenizer, words


class LM(nn.Module):
    def __init__(self, v, d=48):
        super().__init__()
        self.e, self.r = nn.Embedding(v, d), nn.LSTM(d, d, batch_first=True)
        self.o = nn.Linear(d, v)
        self.o.weight = self.e.weight

    def forward(self, x):
        return self.o(self.r(self.e(x))[0])


def lr_at(k, warm, total):
    return k / warm if k < warm else max(0.0, (total - k) / (total - warm))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--merges", type=int, default=110)
    ap.add_argument("--steps", type=int, default=240)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    tok = tokenizer("merges.json", a.merges, dist.distributed_c10d._get_default_store(), rank)
    ids = torch.tensor([i for w in words(0, 9000)[rank::dist.get_world_size()] for i in tok.encode(w)])
    torch.manual_seed(6)
    net = DDP(LM(len(tok.ids)))
    opt = torch.optim.AdamW(net.parameters(), lr=4e-3)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: lr_at(k, 20, a.steps))
    g = torch.Generator().manual_seed(rank)
    for k in range(a.steps):
        at = torch.randint(0, len(ids) - 25, (16,), generator=g)
        w = torch.stack([ids[i:i + 25] for i in at])
        loss = nn.functional.cross_entropy(net(w[:, :-1]).flatten(0, 1), w[:, 1:].flatten())
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        opt.step()
        sched.step()
        if rank == 0 and k % 40 == 0:
            print(f"{k} loss {loss.item():.3f} lr {sched.get_last_lr()[0]:.1e}", flush=True)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
