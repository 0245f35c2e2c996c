import argparse

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader

from data import Packed


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--block", type=int, default=32)
    ap.add_argument("--min-len", type=int, default=18)
    ap.add_argument("--per-device-batch", type=int, default=64)
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    acc = Accelerator(cpu=True)
    data = Packed(args.block, args.min_len)
    loader = DataLoader(data, batch_size=args.per_device_batch, shuffle=True, drop_last=True)
    model = nn.Sequential(nn.Embedding(50, 16), nn.Linear(16, 50))
    opt = torch.optim.AdamW(model.parameters(), lr=1e-2)
    model, opt, loader = acc.prepare(model, opt, loader)
    running = 0.0
    for epoch in range(args.epochs):
        for ids in loader:
            loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
            acc.backward(loss)
            opt.step()
            opt.zero_grad()
            running += loss.item()
    acc.wait_for_everyone()
    acc.save(acc.unwrap_model(model).state_dict(), "/tmp/instruct_filter.pt")
    acc.print("done", args.epochs, "epochs")
    acc.end_training()


if __name__ == "__main__":
    main()
