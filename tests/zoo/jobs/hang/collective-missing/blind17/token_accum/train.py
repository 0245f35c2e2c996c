import argparse
import contextlib
import json
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from corpus import BucketedCorpus
from meter import UpdateBudget


class TinyLM(nn.Module):
    def __init__(self, cfg):
        super().__init__()
        self.emb = nn.Embedding(cfg["vocab"], cfg["dim"], padding_idx=0)
        layer = nn.TransformerEncoderLayer(cfg["dim"], cfg["heads"], 2 * cfg["dim"], 0.0, batch_first=True)
        self.body = nn.TransformerEncoder(layer, cfg["layers"], enable_nested_tensor=False)
        self.head = nn.Linear(cfg["dim"], cfg["vocab"])

    def forward(self, ids):
        mask = nn.Transformer.generate_square_subsequent_mask(ids.shape[1])
        return self.head(self.body(self.emb(ids), mask=mask, is_causal=True))


def nll(logits, ids):
    return nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)


class Trainer:
    def __init__(self, cfg):
        self.cfg = cfg
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(cfg["seed"])
        self.model = DistributedDataParallel(TinyLM(cfg))
        self.opt = torch.optim.AdamW(self.model.parameters(), cfg["lr"])
        self.corpus = BucketedCorpus(6000, cfg["vocab"], cfg["seed"], cfg["max_sentences"])
        self.budget = UpdateBudget(cfg["tokens_per_update"])
        self.log = logging.getLogger("trainer")

    def micro_batches(self, epoch):
        gen = torch.Generator().manual_seed(1000 * epoch + self.rank)
        for lengths in self.corpus.shard(self.rank, self.world):
            yield self.corpus.tensors(lengths, gen)

    def fit(self):
        updates = 0
        for epoch in range(self.cfg["epochs"]):
            for ids in self.micro_batches(epoch):
                full = self.budget.add(ids)
                with contextlib.nullcontext() if full else self.model.no_sync():
                    loss = nll(self.model(ids), ids)
                    loss.backward()
                if not full:
                    continue
                micro, tokens = self.budget.flush()
                for p in self.model.parameters():
                    p.grad /= micro
                self.opt.step()
                self.opt.zero_grad()
                updates += 1
                if updates % 10 == 0:
                    self.report(updates, loss, tokens)
            dist.barrier()
            if self.rank == 0:
                torch.save(self.model.module.state_dict(), f"epoch{epoch}.pt")

    def report(self, updates, loss, tokens):
        if self.rank == 0:
            self.log.info("update %d loss %.3f tokens %d", updates, loss.item(), tokens)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--config", default="configs/base.json")
    args = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    Trainer(json.load(open(args.config))).fit()
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
