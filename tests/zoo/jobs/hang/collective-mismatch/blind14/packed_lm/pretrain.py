import argparse

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from documents import Documents, collate
from model import TinyDecoder
from packing import TokenBudgetBatches


class Pretrainer:
    def __init__(self, args):
        self.args = args
        self.rank, world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(1)
        docs = Documents(args.docs, args.vocab)
        self.batches = TokenBudgetBatches(docs, args.budget, self.rank, world)
        self.loader = DataLoader(docs, batch_sampler=self.batches, collate_fn=collate)
        self.model = DDP(TinyDecoder(args.vocab, 64, 2, 4, 256))
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def train_epoch(self, epoch):
        self.batches.set_epoch(epoch)
        total, n = 0.0, 0
        for tokens in self.loader:
            logits = self.model(tokens[:, :-1])
            loss = F.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten(), ignore_index=0)
            self.optim.zero_grad()
            loss.backward()
            self.optim.step()
            total, n = total + loss.item(), n + 1
        return total / n

    def finish_epoch(self, epoch, loss):
        losses = [None] * dist.get_world_size()
        dist.all_gather_object(losses, loss)
        if self.rank == 0:
            print(f"epoch {epoch} loss {sum(losses) / len(losses):.4f}", flush=True)
            torch.save(self.model.module.state_dict(), "last.pt")
        dist.barrier()

    def fit(self):
        for epoch in range(self.args.epochs):
            self.finish_epoch(epoch, self.train_epoch(epoch))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--docs", type=int, default=1600)
    parser.add_argument("--vocab", type=int, default=120)
    parser.add_argument("--budget", type=int, default=1200)
    parser.add_argument("--epochs", type=int, default=4)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    Pretrainer(args).fit()
    dist.destroy_process_group()
