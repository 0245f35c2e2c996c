import os

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from instruct.loop import MicroBatchLoop, mean_over_ranks


def pad(rows, width=2048):
    n = min(width, max(len(r["ids"]) for r in rows))
    out = {"ids": [], "mask": [], "labels": []}
    for r in rows:
        ids, labels = r["ids"][:n], r["labels"][:n]
        gap = n - len(ids)
        out["ids"].append(ids + [0] * gap)
        out["mask"].append([1] * len(ids) + [0] * gap)
        out["labels"].append(labels + [-100] * gap)
    return {k: torch.tensor(v) for k, v in out.items()}


def main(build_model, rows, accumulate=16, epochs=3):
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    model = DDP(build_model().cuda(), device_ids=[local])
    opt = torch.optim.AdamW(model.parameters(), lr=1e-5)
    sampler = DistributedSampler(rows, drop_last=True)
    loader = DataLoader(rows, 1, sampler=sampler, collate_fn=pad, drop_last=True)
    total = epochs * len(loader) // accumulate
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=1e-5, total_steps=total + 1, pct_start=0.03)
    loop = MicroBatchLoop(model, opt, sched, accumulate)
    for epoch in range(epochs):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss = loop.feed({k: v.cuda(non_blocking=True) for k, v in batch.items()})
            if loop.micro % (20 * accumulate) == 0:
                shown = mean_over_ranks(loss)
                if dist.get_rank() == 0:
                    print(f"update {loop.updates} loss {shown:.3f} lr {sched.get_last_lr()[0]:.2e}")
    if dist.get_rank() == 0:
        torch.save(model.module.state_dict(), "instruct.pt")
    dist.destroy_process_group()
