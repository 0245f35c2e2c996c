import logging

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from sft.checkpoint import CheckpointHandler
from sft.data import Instructions
from sft.sampler import StatefulDistributedSampler

log = logging.getLogger("sft")


class TinyLM(nn.Module):
    def __init__(self, vocab=32, dim=48, ctx=17):
        super().__init__()
        self.tok, self.pos = nn.Embedding(vocab, dim), nn.Embedding(ctx, dim)
        layer = nn.TransformerEncoderLayer(dim, 4, 2 * dim, dropout=0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(dim, vocab)

    def forward(self, tokens):
        t = tokens.size(1)
        mask = nn.Transformer.generate_square_subsequent_mask(t)
        return self.head(self.body(self.tok(tokens) + self.pos(torch.arange(t)), mask=mask, is_causal=True))


class SFTTrainer:
    def __init__(self, args):
        self.args = args
        self.rank, world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(0)
        data = Instructions()
        self.sampler = StatefulDistributedSampler(data, world, self.rank)
        self.loader = DataLoader(data, batch_size=args.batch_size, sampler=self.sampler, drop_last=True)
        self.steps_per_epoch = len(self.loader)
        self.model = DDP(TinyLM())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        self.scheduler = torch.optim.lr_scheduler.LambdaLR(self.optimizer, lambda s: min(1.0, (s + 1) / 6))
        self.handler = CheckpointHandler(args.out)
        self.step = 0
        if args.resume:
            self.step = self.handler.load(self.model.module, self.optimizer, self.scheduler, self.sampler)

    def train_batch(self, tokens, labels):
        logits = self.model(tokens[:, :-1])
        loss = F.cross_entropy(logits.flatten(0, 1), labels[:, 1:].flatten(), ignore_index=-100)
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.optimizer.step()
        self.scheduler.step()
        return loss.item()

    def fit(self):
        first = self.step // self.steps_per_epoch
        for epoch in range(first, self.args.epochs):
            self.sampler.set_epoch(epoch)
            for tokens, labels in self.loader:
                loss = self.train_batch(tokens, labels)
                self.step += 1
                if self.rank == 0 and self.step % 6 == 0:
                    log.info("epoch %d step %d loss %.4f lr %.5f", epoch, self.step, loss, self.scheduler.get_last_lr()[0])
                if self.step % self.args.save_every == 0:
                    self.handler.save(self.step, self.model.module, self.optimizer, self.scheduler, self.sampler)
        if self.rank == 0:
            log.info("finished %d epochs", self.args.epochs)
