import math
import os
import random

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from layers import LM


def reseed(base):
    value = base + 31 * dist.get_rank()
    random.seed(value)
    torch.manual_seed(value)


def perplexity(model, loader, device):
    model.eval()
    total = torch.zeros(2, dtype=torch.float64, device=device)
    with torch.no_grad():
        for rows in loader:
            rows = rows.to(device)
            logits = model(rows[:, :-1])
            nll = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten(), reduction="sum")
            total += torch.stack([nll.double(), torch.tensor(rows[:, 1:].numel(), device=device).double()])
    dist.all_reduce(total)
    return math.exp((total[0] / total[1]).item())


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    device = torch.device("cuda", local)
    torch.manual_seed(0)
    blob = torch.load("wikitext.pt", map_location="cpu")
    samplers = DistributedSampler(blob["train"]), DistributedSampler(blob["valid"], shuffle=False)
    train = DataLoader(blob["train"], 16, sampler=samplers[0], drop_last=True)
    valid = DataLoader(blob["valid"], 16, sampler=samplers[1])
    model = DDP(LM().to(device), device_ids=[local], find_unused_parameters=True)
    reseed(77)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    best = float("inf")
    for epoch in range(30):
        samplers[0].set_epoch(epoch)
        model.train()
        for rows in train:
            rows = rows.to(device)
            logits = model(rows[:, :-1])
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        value = perplexity(model, valid, device)
        if value > best * 1.05:
            break
        best = min(best, value)
        if dist.get_rank() == 0:
            print(f"{epoch}: {value:.2f}", flush=True)
            torch.save(model.module.state_dict(), "layerdrop.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
