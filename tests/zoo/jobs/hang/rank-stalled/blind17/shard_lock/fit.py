import argparse
import logging

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, TensorDataset

from curriculum import region_for
from prepare.tiles import TileStore


def net():
    return nn.Sequential(nn.Conv2d(1, 16, 3, 2), nn.ReLU(), nn.Conv2d(16, 24, 3, 2), nn.ReLU(), nn.Flatten(), nn.Linear(216, 2))


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--tiles", default="tiles")
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s {rank} %(name)s %(message)s")
    torch.manual_seed(0)
    model = DDP(net())
    opt = torch.optim.Adam(model.parameters(), 1e-3)
    store = TileStore(args.tiles, ["alps", "andes", "ural", "coast"])
    for epoch in range(args.epochs):
        pack = store.load(region_for(epoch, rank))
        for x, y in DataLoader(TensorDataset(pack["x"], pack["y"]), 8, shuffle=True):
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
        logging.info("epoch %d loss %.4f", epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
