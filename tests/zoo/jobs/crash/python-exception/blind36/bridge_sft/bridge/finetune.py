import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
import yaml
from torch.nn.parallel import DistributedDataParallel as DDP

from .data import SFTDataset, build_dataloader

logger = logging.getLogger("bridge")


class TinyLM(nn.Module):
    def __init__(self, vocab, width):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.rnn = nn.GRU(width, width, batch_first=True)
        self.head = nn.Linear(width, vocab)

    def forward(self, ids):
        hidden, _ = self.rnn(self.embed(ids))
        return self.head(hidden)


def masked_loss(logits, batch):
    labels = batch["input_ids"][:, 1:]
    mask = batch["loss_mask"][:, 1:]
    loss = F.cross_entropy(logits[:, :-1].transpose(1, 2), labels, reduction="none")
    return (loss * mask).sum() / mask.sum().clamp(min=1)


def train(cfg):
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING)
    torch.manual_seed(cfg["seed"])
    dataset = SFTDataset(cfg["samples"], cfg["vocab"], cfg["max_len"], seed=3)
    model = DDP(TinyLM(cfg["vocab"], cfg["width"]))
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, (s + 1) / cfg["warmup"]))
    step = 0
    for epoch in range(cfg["epochs"]):
        loader = build_dataloader(dataset, cfg, rank, world)
        logger.info("epoch %d: %d micro batches", epoch, len(loader))
        for batch in loader:
            loss = masked_loss(model(batch["input_ids"]), batch)
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            step += 1
            if step % cfg["log_every"] == 0:
                logger.info("step %d loss %.4f lr %.2e", step, loss.item(), scheduler.get_last_lr()[0])
    if rank == 0:
        torch.save({"model": model.module.state_dict(), "step": step}, "last.pt")
    dist.barrier()
    dist.destroy_process_group()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", default="sft.yaml")
    parser.add_argument("overrides", nargs="*")
    args = parser.parse_args()
    with open(args.config) as f:
        cfg = yaml.safe_load(f)
    for item in args.overrides:
        key, value = item.split("=", 1)
        cfg[key] = yaml.safe_load(value)
    train(cfg)


if __name__ == "__main__":
    main()
