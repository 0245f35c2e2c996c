import argparse
import os
import time

import torch
from torch import nn
from torch.utils.data import DataLoader

from dialogs import VisDialDataset, write_dialogs


class BagRanker(nn.Module):
    """Mean of word vectors for question, history and options; options are scored by a dot product."""

    def __init__(self, vocab, dim=48):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=0)
        self.fuse = nn.Sequential(nn.Linear(2 * dim, 2 * dim), nn.ReLU(), nn.Linear(2 * dim, dim))

    def bag(self, ids):
        mask = (ids != 0).unsqueeze(-1)
        return (self.emb(ids) * mask).sum(-2) / mask.sum(-2).clamp(min=1)

    def forward(self, batch):
        ctx = self.fuse(torch.cat([self.bag(batch["ques"]), self.bag(batch["hist"])], -1))
        return torch.einsum("brd,brod->bro", ctx, self.bag(batch["opt"]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data", default="data")
    p.add_argument("--dialogs", type=int, default=512)
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch-size", type=int, default=32)
    p.add_argument("--cpu-workers", type=int, default=0)
    args = p.parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    os.makedirs(args.data, exist_ok=True)
    path = os.path.join(args.data, "train.json")
    if not os.path.exists(path):
        write_dialogs(path, args.dialogs)

    dataset = VisDialDataset(path, {"max_len": 14})
    loader = DataLoader(dataset, args.batch_size, shuffle=True, num_workers=args.cpu_workers)
    model = BagRanker(len(dataset.vocabulary))
    opt = torch.optim.Adam(model.parameters(), lr=2e-3)
    for epoch in range(args.epochs):
        begin, total, hit, seen = time.time(), 0.0, 0, 0
        for batch in loader:
            scores = model(batch)
            loss = nn.functional.cross_entropy(scores.flatten(0, 1), batch["ans"].flatten())
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
            hit += (scores.argmax(-1) == batch["ans"]).sum().item()
            seen += batch["ans"].numel()
        print(f"epoch {epoch} loss {total / len(loader):.4f} r@1 {hit / seen:.3f} {time.time() - begin:.1f} s", flush=True)
    torch.save(model.state_dict(), "ranker.pt")


if __name__ == "__main__":
    main()
