import logging
import os
import sys
import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from progress import ProgressLogger
from textdata import bucketed

logging.basicConfig(level=logging.INFO, stream=sys.stderr, format="%(asctime)s %(message)s")


class Classifier(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.emb = torch.nn.EmbeddingBag(100, 16)
        self.out = torch.nn.Linear(16, 3)

    def forward(self, words):
        return self.out(self.emb(words))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DDP(Classifier())
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.1)
    progress = ProgressLogger(every=400)
    for words, labels in bucketed(int(os.environ["RANK"])):
        loss = torch.nn.functional.cross_entropy(model(words), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.advance(len(labels), loss.item())
    dist.barrier()
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    main()
