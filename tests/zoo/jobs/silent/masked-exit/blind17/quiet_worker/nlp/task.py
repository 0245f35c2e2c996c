import logging

import torch
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from .spans import SpanBatcher, make_docs

log = logging.getLogger(__name__)


class CloseModel(nn.Module):
    def __init__(self, vocab=200, dim=32):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab, dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.out(self.emb(ids[None]))


class Task:
    def __init__(self, rank, world, docs=900, epochs=2):
        torch.manual_seed(0)
        self.rank, self.epochs = rank, epochs
        self.model = DDP(CloseModel())
        self.opt = torch.optim.SGD(self.model.parameters(), 0.1)
        self.batcher = SpanBatcher(make_docs(docs, 4), 32, rank, world)

    def run(self):
        for epoch in range(self.epochs):
            for i, (span, target) in enumerate(self.batcher):
                loss = nn.functional.cross_entropy(self.model(span), target[None])
                self.opt.zero_grad()
                loss.backward()
                self.opt.step()
                if i % 100 == 0 and self.rank == 0:
                    log.info("epoch %d doc %d loss %.3f", epoch, i, loss.item())
