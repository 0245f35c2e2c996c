import argparse

import torch

from keep import Keeper
from nets import CharMLP
from text import ALPHABET, windows


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--steps", type=int, default=400)
    ap.add_argument("--activation", default="squared")
    ap.add_argument("--out", default="run")
    args = ap.parse_args()
    torch.manual_seed(0)
    x, y = windows(8)
    model = CharMLP(len(ALPHABET), activation=args.activation)
    keeper = Keeper(model, args.out)
    opt = torch.optim.AdamW(model.parameters(), lr=4e-3)
    for step in range(1, args.steps + 1):
        pick = torch.randint(len(x), (64,))
        loss = torch.nn.functional.cross_entropy(model(x[pick]), y[pick])
        opt.zero_grad()
        loss.backward()
        opt.step()
        keeper.step = step
        if step % 100 == 0:
            print(f"{step:5d} {loss.item():.4f}", flush=True)
    print("training complete")


if __name__ == "__main__":
    main()
