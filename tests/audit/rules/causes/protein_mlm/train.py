import json
import os
import sys

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from factory import assemble

MASK = 32


def corrupt(tokens, generator):
    chosen = torch.rand(tokens.shape, generator=generator) < 0.15
    return torch.where(chosen, torch.full_like(tokens, MASK), tokens), chosen


def setup():
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    dist.init_process_group("nccl")
    torch.manual_seed(42)
    return dist.get_rank()


def endless(loader, sampler):
    epoch = 0
    while True:
        sampler.set_epoch(epoch)
        yield from loader
        epoch += 1


def main(path):
    with open(path) as f:
        cfg = json.load(f)
    rank = setup()
    data = TensorDataset(torch.load(cfg["tokens"], map_location="cpu"))
    sampler = DistributedSampler(data, seed=cfg.get("seed", 0))
    loader = DataLoader(data, cfg["batch"], sampler=sampler, drop_last=True, num_workers=2)
    model, optimizer, schedule = assemble(cfg)
    generator = torch.Generator().manual_seed(1000 + rank)
    for step, (tokens,) in zip(range(cfg["steps"]), endless(loader, sampler)):
        noisy, chosen = corrupt(tokens, generator)
        logits = model(noisy.cuda())
        loss = F.cross_entropy(logits[chosen.cuda()], tokens.cuda()[chosen.cuda()])
        loss.backward()
        model.clip_grad_norm_(1.0)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if rank == 0 and step % 100 == 0:
            print(step, round(loss.item(), 4), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "mlm.json")
