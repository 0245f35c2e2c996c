import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from topics import Headlines, TopicNet
from writers import BackgroundWriter

log = logging.getLogger("topics")


class Run:
    def __init__(self, args):
        self.args = args
        self.rank = dist.get_rank()
        self.main = self.rank == 0
        torch.manual_seed(args.seed)
        self.model = DDP(TopicNet())
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.lr)
        fit, held = Headlines(1600, seed=1), Headlines(320, seed=2)
        self.loader = DataLoader(fit, args.batch, sampler=DistributedSampler(fit), drop_last=True)
        self.held = DataLoader(held, args.batch, sampler=DistributedSampler(held, shuffle=False))
        self.writer = BackgroundWriter(args.folder) if self.main else None
        self.best, self.waited = 0.0, 0

    def train(self, epoch):
        self.loader.sampler.set_epoch(epoch)
        self.model.train()
        for step, (words, topic) in enumerate(self.loader):
            loss = torch.nn.functional.cross_entropy(self.model(words), topic)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            if self.writer and step % 10 == 0:
                self.writer.row("loss", epoch=epoch, step=step, loss=loss.item())

    @torch.no_grad()
    def evaluate(self):
        self.model.eval()
        right = torch.zeros(2)
        for words, topic in self.held:
            right += torch.tensor([(self.model.module(words).argmax(1) == topic).sum(), len(topic)])
        dist.all_reduce(right)
        return (right[0] / right[1]).item()

    def fit(self):
        for epoch in range(self.args.epochs):
            self.train(epoch)
            accuracy = self.evaluate()
            if self.main:
                log.info("epoch %d accuracy %.3f", epoch, accuracy)
                self.writer.row("accuracy", epoch=epoch, accuracy=accuracy)
            if accuracy > self.best + self.args.margin:
                self.best, self.waited = accuracy, 0
                if self.main:
                    self.writer.state("best", self.model.module.state_dict())
                continue
            self.waited += 1
            if self.waited >= self.args.patience:
                if self.main:
                    log.info("no gain for %d epochs, best %.3f", self.waited, self.best)
                    self.writer.flush()
                return self.best
        if self.main:
            self.writer.close()
        return self.best


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--folder", default="topic_run")
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--batch", type=int, default=40)
    parser.add_argument("--patience", type=int, default=2)
    parser.add_argument("--margin", type=float, default=0.01)
    parser.add_argument("--lr", type=float, default=1e-2)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    best = Run(args).fit()
    dist.barrier()
    dist.destroy_process_group()
    log.info("done, best accuracy %.3f", best)


if __name__ == "__main__":
    main()
