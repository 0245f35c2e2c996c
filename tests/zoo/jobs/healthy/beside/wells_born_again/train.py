"""Born-again training: each generation learns from a frozen copy of the one before, which is measured beside it."""
import copy

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from data import Wells
from evaluation import accuracy


def build():
    return nn.Sequential(nn.Conv1d(3, 32, 5, padding=2), nn.BatchNorm1d(32), nn.ReLU(), nn.AdaptiveAvgPool1d(8), nn.Flatten(), nn.Linear(256, 6))


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(3)
    train, val = Wells(2048, 0), Wells(512, 1)
    sampler = DistributedSampler(train)
    loader = DataLoader(train, 64, sampler=sampler)
    val_loader = DataLoader(val, 128, sampler=DistributedSampler(val, shuffle=False))
    student, teacher = build(), None
    for generation in range(3):
        ddp = DDP(student)
        opt = torch.optim.AdamW(ddp.parameters(), 2e-3)
        for epoch in range(3):
            sampler.set_epoch(generation * 3 + epoch)
            for x, y in loader:
                logits = ddp(x)
                loss = F.cross_entropy(logits, y)
                if teacher is not None:
                    with torch.no_grad():
                        soft = teacher(x).softmax(1)
                    loss = 0.5 * loss + 0.5 * F.kl_div(logits.log_softmax(1), soft, reduction="batchmean")
                opt.zero_grad()
                loss.backward()
                opt.step()
            shown = accuracy(student, val_loader)
            reference = accuracy(teacher, val_loader) if teacher is not None else float("nan")
            if rank == 0:
                print(f"generation {generation} epoch {epoch} val {shown:.4f} teacher {reference:.4f}", flush=True)
        teacher = copy.deepcopy(student).eval().requires_grad_(False)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
