import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from spec.data import make_loader
from spec.draft import Drafter, NoAnchors


class Trainer:
    def __init__(self, args):
        self.rank = dist.get_rank()
        torch.manual_seed(0)
        self.model = DDP(Drafter())
        self.opt = torch.optim.AdamW([p for p in self.model.parameters() if p.requires_grad], 1e-3)
        self.loader, self.sampler = make_loader()
        self.epochs = args.epochs
        self.skipped = self.steps = 0

    def agreed_rows(self, ids):
        try:
            rows = self.model.module.anchors(ids)
        except NoAnchors as err:
            logging.debug("%s", err)
            rows = None
        usable = torch.tensor(0 if rows is None else 1)
        dist.all_reduce(usable, op=dist.ReduceOp.MIN)
        return rows if usable.item() else None

    def fit(self):
        for epoch in range(self.epochs):
            self.sampler.set_epoch(epoch)
            for ids in self.loader:
                rows = self.agreed_rows(ids)
                if rows is None:
                    self.skipped += 1
                    continue
                loss = self.model(ids, rows)
                self.opt.zero_grad()
                loss.backward()
                torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
                self.steps += 1
            if self.rank == 0:
                logging.info("epoch %d loss %.3f, %d steps, %d skipped", epoch, loss.item(), self.steps, self.skipped)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--epochs", type=int, default=2)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO)
    Trainer(args).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
