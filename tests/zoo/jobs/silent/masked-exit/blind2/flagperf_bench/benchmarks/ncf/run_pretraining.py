import argparse

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader

from dataloader import load_ratings
from model import NeuMF

USERS, ITEMS = 60, 90


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir")
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch_size", type=int, default=64)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = load_ratings(args.data_dir, dist.get_rank())
    loader = DataLoader(dataset, args.batch_size, shuffle=True, drop_last=True)
    model = DDP(NeuMF(USERS, ITEMS))
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(args.epochs):
        for user, item, rating in loader:
            loss = nn.functional.mse_loss(model(user, item), rating)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
