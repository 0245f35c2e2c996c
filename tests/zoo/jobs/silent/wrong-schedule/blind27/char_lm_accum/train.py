import argparse
import contextlib
import json
import math

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from corpus import VOCAB, Blocks, synth_corpus
from model import CharLM


def linear_with_warmup(optimizer, warmup, total):
    def factor(step):
        if step < warmup:
            return step / max(1, warmup)
        return max(0.0, (total - step) / max(1, total - warmup))
    return LambdaLR(optimizer, factor)


@torch.no_grad()
def perplexity(model, loader):
    model.eval()
    acc = torch.zeros(2)
    for x, y in loader:
        logits = model(x)
        acc[0] += F.cross_entropy(logits.flatten(0, 1), y.flatten(), reduction="sum").item()
        acc[1] += y.numel()
    dist.all_reduce(acc)
    model.train()
    return math.exp(acc[0] / acc[1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="config.json")
    args = parser.parse_args()
    cfg = json.load(open(args.config))
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    torch.manual_seed(cfg["seed"])

    tokens = synth_corpus(cfg["corpus_tokens"], cfg["seed"])
    cut = int(0.9 * len(tokens))
    train_set, val_set = Blocks(tokens[:cut], cfg["context"]), Blocks(tokens[cut:], cfg["context"])
    sampler = DistributedSampler(train_set, seed=cfg["seed"])
    train_loader = DataLoader(train_set, cfg["micro_batch"], sampler=sampler, drop_last=True)
    val_loader = DataLoader(val_set, 16, sampler=DistributedSampler(val_set, shuffle=False))

    model = DDP(CharLM(VOCAB, cfg))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["learning_rate"], weight_decay=cfg["weight_decay"])
    updates_per_epoch = math.ceil(len(train_loader) / cfg["accumulate"])
    total_updates = updates_per_epoch * cfg["epochs"]
    scheduler = linear_with_warmup(optimizer, int(cfg["warmup_ratio"] * total_updates), total_updates)
    if rank == 0:
        print(f"{len(train_set)} blocks, world {world}, {total_updates} updates", flush=True)

    seen = 0
    for epoch in range(cfg["epochs"]):
        sampler.set_epoch(epoch)
        running = 0.0
        for i, (x, y) in enumerate(train_loader):
            last = (i + 1) % cfg["accumulate"] == 0 or i + 1 == len(train_loader)
            with contextlib.nullcontext() if last else model.no_sync():
                loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
                (loss / cfg["accumulate"]).backward()
            running += loss.item()
            seen += 1
            if last:
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
                optimizer.step()
                optimizer.zero_grad(set_to_none=True)
            scheduler.step()
            if rank == 0 and seen % cfg["log_every"] == 0:
                print(f"micro {seen} loss {loss.item():.3f}", flush=True)
        ppl = perplexity(model, val_loader)
        if rank == 0:
            print(f"epoch {epoch} train {running / len(train_loader):.3f} val ppl {ppl:.2f}", flush=True)
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "config": cfg}, "last.pt")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
