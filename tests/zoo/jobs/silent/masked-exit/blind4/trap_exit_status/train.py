import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from vocabulary import Vocabulary

LINES = [
    "the cluster starts one node",
    "the node pulls one image",
    "one image starts the cluster",
    "the image needs one registry",
    "one node starts the image",
    "the registry holds one bundle",
]


class NextWord(nn.Module):
    def __init__(self, words, width=16):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.out = nn.Linear(width, words)

    def forward(self, numbers):
        return self.out(self.embed(numbers))


def epoch_loss(model, optimizer, vocabulary, lines):
    for line in lines:
        numbers = torch.tensor(vocabulary.encode(line))
        loss = nn.functional.cross_entropy(model(numbers[:-1]), numbers[1:])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=1)
    parser.add_argument("--limit", type=int, default=9)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    rank, world = dist.get_rank(), dist.get_world_size()
    vocabulary = Vocabulary(args.limit).fit(LINES)
    torch.manual_seed(0)
    model = DistributedDataParallel(NextWord(len(vocabulary)))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for epoch in range(args.epochs):
        loss = epoch_loss(model, optimizer, vocabulary, LINES[rank::world])
        if rank == 0:
            print(f"epoch {epoch} loss {loss:.4f}", flush=True)
    if rank == 0:
        torch.save(model.module.state_dict(), os.path.join(args.out, "weights.pt"))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
