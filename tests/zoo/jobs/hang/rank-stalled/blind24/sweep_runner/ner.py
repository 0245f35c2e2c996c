"""One run of the tagger: started by sweep.py through torchrun."""
import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

WORDS, TAGS = 200, 9


class Tagger(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.embed = nn.Embedding(WORDS, width)
        self.lstm = nn.LSTM(width, width, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * width, TAGS)

    def forward(self, words):
        return self.out(self.lstm(self.embed(words))[0])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--lr", type=float, required=True)
    p.add_argument("--width", type=int, default=32)
    p.add_argument("--steps", type=int, default=400)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(rank)
    model = DDP(Tagger(args.width))
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    for step in range(args.steps):
        words = torch.randint(0, WORDS, (16, 20))
        logits = model(words)
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), (words % TAGS).flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        per_tag = " ".join(f"{t}:{(logits.argmax(-1)[words % TAGS == t] == t).float().mean():.4f}" for t in range(TAGS))
        print(f"[{rank}] lr {args.lr:g} step {step:5d} loss {loss.item():.6f} recall {per_tag} width {args.width} "
              f"tokens {(step + 1) * 320:8d} grad {sum(float(p.grad.norm()) for p in model.parameters()):.5f}", flush=True)
    if rank == 0:
        print(f"RESULT {loss.item():.6f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
