import argparse
import logging
import os

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from .data import PAD, WORDS, CaptionDataset, Vocabulary
from .model import CaptionModel

log = logging.getLogger("captioner")


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=5)
    p.add_argument("--batch-size", type=int, default=12)
    p.add_argument("--max-len", type=int, default=16)
    p.add_argument("--samples", type=int, default=420)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--lr", type=float, default=3e-3)
    return p.parse_args()


def token_loss(logits, tokens):
    return F.cross_entropy(logits[:, :-1].flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=PAD)


def main():
    args = get_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING,
                        format=f"%(asctime)s [{rank}] %(message)s")
    torch.manual_seed(0)
    vocab = Vocabulary(WORDS)
    dataset = CaptionDataset(args.samples, vocab, max_len=args.max_len)
    sampler = DistributedSampler(dataset, shuffle=False)
    loader = DataLoader(dataset, batch_size=args.batch_size, sampler=sampler, num_workers=args.workers)
    model = DistributedDataParallel(CaptionModel(len(vocab)))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)

    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        model.train()
        for step, batch in enumerate(loader):
            logits = model(batch["image"], batch["tokens"])
            loss = token_loss(logits, batch["tokens"])
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            if step % 2 == 0:
                log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
        if rank == 0:
            os.makedirs("out", exist_ok=True)
            torch.save(model.module.state_dict(), f"out/epoch{epoch}.pt")
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
