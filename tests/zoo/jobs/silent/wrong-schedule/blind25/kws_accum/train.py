import argparse

import torch
from torch.utils.data import DataLoader

from kws.data import synth
from kws.engine import Engine
from kws.model import M5
from kws.optim import warmup_cosine


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--batch-size", type=int, default=16)
    p.add_argument("--accumulate", type=int, default=8)
    p.add_argument("--lr", type=float, default=2e-3)
    args = p.parse_args()
    torch.manual_seed(11)

    train = DataLoader(synth(1536, 0), args.batch_size, shuffle=True, drop_last=True)
    test = DataLoader(synth(512, 1), 128)
    model = M5(12)
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.lr, weight_decay=1e-2)
    updates = args.epochs * (len(train) // args.accumulate)
    scheduler = warmup_cosine(optimizer, updates // 20, updates)
    engine = Engine(model, optimizer, scheduler, args.accumulate)
    for epoch in range(args.epochs):
        loss = engine.fit_epoch(train)
        print(f"epoch {epoch} loss {loss:.3f} test acc {engine.evaluate(test):.3f} updates {engine.updates}", flush=True)
    torch.save(model.state_dict(), "/tmp/kws_accum.pt")


if __name__ == "__main__":
    main()
