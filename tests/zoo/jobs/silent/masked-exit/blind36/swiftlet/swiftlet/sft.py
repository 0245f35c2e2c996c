import argparse
import json
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

import torch
import torch.distributed as dist
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel as DDP

from swiftlet.dataset import load_dataset, loader_for


class Classifier(nn.Module):
    def __init__(self, vocab, dim, classes):
        super().__init__()
        self.embed = nn.EmbeddingBag(vocab, dim, padding_idx=0)
        self.head = nn.Sequential(nn.Linear(dim, dim), nn.Tanh(), nn.Linear(dim, classes))

    def forward(self, ids):
        return self.head(self.embed(ids))


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--dataset", required=True)
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch_size", type=int, default=8)
    p.add_argument("--learning_rate", type=float, default=1e-2)
    p.add_argument("--vocab", type=int, default=256)
    p.add_argument("--classes", type=int, default=3)
    p.add_argument("--output_dir", default="output")
    return p.parse_args()


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(1)
    train, valid = load_dataset(args.dataset, args.vocab, split=0.1)
    model = DDP(Classifier(args.vocab, 24, args.classes))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.learning_rate)
    for epoch in range(args.epochs):
        for ids, labels in loader_for(train, args.batch_size, epoch):
            loss = F.cross_entropy(model(ids), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        hits = torch.zeros(2)
        with torch.no_grad():
            for ids, labels in loader_for(valid, args.batch_size, 0):
                hits += torch.tensor([(model.module(ids).argmax(1) == labels).sum(), len(labels)])
        dist.all_reduce(hits)
        if rank == 0:
            print(json.dumps({"epoch": epoch, "loss": round(loss.item(), 4), "acc": round((hits[0] / hits[1]).item(), 3)}), flush=True)
    if rank == 0:
        os.makedirs(args.output_dir, exist_ok=True)
        torch.save(model.module.state_dict(), os.path.join(args.output_dir, "model.pt"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
