import argparse
import json

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from data import Notes, SiteSampler, collate
from model import NoteLM


def load_config(path, overrides):
    with open(path) as f:
        cfg = json.load(f)
    for item in overrides:
        key, value = item.split("=", 1)
        cfg[key] = json.loads(value)
    return cfg


def apply_compile(model, cfg):
    if not cfg["compile"]["enable"]:
        return
    for i, block in enumerate(model.blocks):
        model.blocks[i] = torch.compile(block, **cfg["compile"]["options"])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--config", default="config.json")
    p.add_argument("overrides", nargs="*")
    args = p.parse_args()
    cfg = load_config(args.config, args.overrides)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(cfg["seed"])
    data = Notes(cfg["notes"], cfg["vocab"], cfg["seed"])
    sampler = SiteSampler(data, site=rank, seed=cfg["seed"])
    loader = DataLoader(data, cfg["batch_size"], sampler=sampler, collate_fn=collate, drop_last=True)
    model = NoteLM(cfg["vocab"])
    apply_compile(model, cfg)
    model = DDP(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        for step, ids in enumerate(loader):
            logits = model(ids)
            loss = F.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 5 == 0 and rank == 0:
                print(f"epoch {epoch} step {step} loss {loss.item():.3f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), "notes.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
