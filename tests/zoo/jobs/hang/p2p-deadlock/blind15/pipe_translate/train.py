import argparse
import logging
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader, TensorDataset

from engine import PipelineEngine
from stages import build_stage


@dataclass
class Config:
    vocab: int = 120
    dim: int = 48
    depth: int = 2
    length: int = 24
    sentences: int = 969
    batch: int = 24
    micro_batches: int = 4
    epochs: int = 2
    lr: float = 2e-3
    seed: int = 3


def corpus(cfg):
    g = torch.Generator().manual_seed(cfg.seed)
    source = torch.randint(0, cfg.vocab, (cfg.sentences, cfg.length), generator=g)
    return TensorDataset(source, (source * 7 + 3) % cfg.vocab)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=Config.epochs)
    parser.add_argument("--micro-batches", type=int, default=Config.micro_batches)
    args = parser.parse_args()
    cfg = Config(epochs=args.epochs, micro_batches=args.micro_batches)
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[stage {rank}] %(message)s")
    stage = build_stage(rank, cfg)
    engine = PipelineEngine(rank, stage, torch.optim.Adam(stage.parameters(), cfg.lr), cfg.micro_batches)
    for epoch in range(cfg.epochs):
        order = torch.Generator().manual_seed(cfg.seed + epoch)
        loader = DataLoader(corpus(cfg), cfg.batch, shuffle=True, generator=order)
        for step, (source, target) in enumerate(loader):
            loss = engine.train_batch(source, target)
            if rank == 1 and step % 10 == 0:
                logging.info("epoch %d step %d/%d loss %.3f", epoch, step, len(loader), loss)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
