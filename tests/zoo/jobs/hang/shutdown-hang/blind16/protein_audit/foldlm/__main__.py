import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .audit import SampleAuditor
from .data import decode, family


class MaskedLM(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.e = nn.Embedding(22, d)
        self.p = nn.Parameter(torch.zeros(40, d))
        self.enc = nn.TransformerEncoderLayer(d, 4, 2 * d, dropout=0.0, batch_first=True)
        self.o = nn.Linear(d, 21)

    def forward(self, x):
        return self.o(self.enc(self.e(x) + self.p))


def main():
    ap = argparse.ArgumentParser(prog="foldlm")
    ap.add_argument("--epochs", type=int, default=4)
    ap.add_argument("--audit-every", type=int, default=8)
    ap.add_argument("--audit-min-len", type=int, default=12)
    a = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    net = DDP(MaskedLM(32))
    opt = torch.optim.AdamW(net.parameters(), lr=2e-3)
    auditor = SampleAuditor("audit.tsv", a.audit_min_len) if rank == 0 else None
    x = family(rank)
    step = 0
    for epoch in range(a.epochs):
        for idx in torch.randperm(len(x)).split(16):
            b = x[idx]
            m = (torch.rand(b.shape) < 0.2) & (b > 0)
            logits = net(torch.where(m, torch.full_like(b, 21), b))
            loss = (nn.functional.cross_entropy(logits.transpose(1, 2), b, reduction="none") * m).sum() / m.sum()
            opt.zero_grad()
            loss.backward()
            opt.step()
            step += 1
            if auditor and step % a.audit_every == 0:
                auditor.submit(step, decode(torch.where(b[0] > 0, logits[0].argmax(-1), b[0])))
        if rank == 0:
            print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    if rank == 0:
        torch.save(net.module.state_dict(), "foldlm.pt")
        print("saved", flush=True)
    dist.barrier()
    dist.destroy_process_group()


main()
