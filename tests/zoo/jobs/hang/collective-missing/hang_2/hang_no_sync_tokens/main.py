import argparse
import contextlib
import time

import torch
import torch.distributed as dist
import yaml
from torch.nn.parallel import DistributedDataParallel

from documents import documents


class Accumulator:
    """Sums gradients until enough tokens were seen."""

    def __init__(self, model, optimizer, tokens_per_update):
        self.model, self.optimizer, self.goal = model, optimizer, tokens_per_update
        self.tokens = 0

    def is_last(self, tokens):
        return self.tokens + tokens >= self.goal

    def backward(self, batch):
        last = self.is_last(batch.numel())
        with contextlib.nullcontext() if last else self.model.no_sync():
            loss = self.model(batch)
            loss.backward()
        self.tokens += batch.numel()
        if last:
            self.optimizer.step()
            self.optimizer.zero_grad(set_to_none=True)
            self.tokens = 0
        return loss.item()


class LM(torch.nn.Module):
    def __init__(self, width, vocab=32):
        super().__init__()
        self.emb = torch.nn.Embedding(vocab, width)
        self.rnn = torch.nn.GRU(width, width, batch_first=True)
        self.out = torch.nn.Linear(width, vocab)

    def forward(self, x):
        logits = self.out(self.rnn(self.emb(x[:, :-1]))[0])
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), x[:, 1:].flatten())


def main(cfg):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = DistributedDataParallel(LM(cfg["width"]))
    accumulator = Accumulator(model, torch.optim.Adam(model.parameters(), lr=cfg["lr"]), cfg["tokens_per_update"])
    for batch in documents(dist.get_rank(), cfg["steps"]):
        loss = accumulator.backward(batch)
    dist.barrier()
    print(f"rank {dist.get_rank()} ends with loss {loss:.3f}", flush=True)
    dist.destroy_process_group()
    time.sleep(0.5)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--config")
    with open(parser.parse_args().config) as f:
        main(yaml.safe_load(f))
