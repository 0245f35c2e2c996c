"""Contrastive image/text retrieval, small CPU recipe."""
import argparse

import torch
from torch.utils.data import DataLoader

from retrieval.data import PairDataset, build_store
from retrieval.model import TwoTower, info_nce


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--workers", type=int, default=2)
    p.add_argument("--batch-size", type=int, default=16)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(17)
    store = build_store(n=128, seed=3)
    dataset = PairDataset(store)
    loader = DataLoader(
        dataset, batch_size=args.batch_size, shuffle=True, drop_last=True,
        num_workers=args.workers, multiprocessing_context="spawn", persistent_workers=True,
    )
    model = TwoTower(store.image_dim, store.vocab_size)
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3)
    print(f"{len(dataset)} pairs, {store.vocab_size} tokens")
    for epoch in range(args.epochs):
        total = 0.0
        for image, tokens in loader:
            loss = info_nce(*model(image, tokens))
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}")


if __name__ == "__main__":
    main()
