import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from .data import corpus, make_loader
from .tokenizer import Tokenizer

log = logging.getLogger("textlm")


class LM(nn.Module):
    def __init__(self, vocab, dim):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.rnn = nn.LSTM(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.rnn(self.emb(ids))[0])


def report_lengths(texts, tokenizer, sample=200):
    lengths = sorted(len(ids) for ids in tokenizer.encode_batch(texts[:sample]))
    log.info("tokens per document: median %d, longest %d", lengths[len(lengths) // 2], lengths[-1])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--documents", type=int, default=800)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--workers", type=int, default=1)
    p.add_argument("--max-len", type=int, default=48)
    p.add_argument("--vocab", type=int, default=120)
    p.add_argument("--dim", type=int, default=32)
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING)
    torch.manual_seed(args.seed)

    texts = corpus(args.documents)
    tokenizer = Tokenizer()
    tokenizer.train(texts, args.vocab)
    if rank == 0:
        log.info("vocabulary of %d pieces", len(tokenizer))
        report_lengths(texts, tokenizer)
    loader = make_loader(texts, tokenizer, args, rank, world)
    model = DDP(LM(len(tokenizer), args.dim))
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(args.epochs):
        loader.sampler.set_epoch(epoch)
        for step, ids in enumerate(loader):
            logits = model(ids[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 10 == 0:
                log.info("epoch %d step %d loss %.3f", epoch, step, loss.item())
    dist.barrier()
    if rank == 0:
        torch.save(model.module.state_dict(), "lm.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
