import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from .records import PatchArchive, collate_present, write_archive
from .state import Store


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--archive", default="patches.bin")
    ap.add_argument("--store", default="store")
    ap.add_argument("--epochs", type=int, default=3)
    args = ap.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"[{rank}] %(levelname)s %(message)s")
    if rank == 0 and not os.path.exists(args.archive):
        write_archive(args.archive)
    dist.barrier()
    data = PatchArchive(args.archive)
    sampler = DistributedSampler(data, seed=6)
    loader = DataLoader(data, 20, sampler=sampler, num_workers=1, collate_fn=collate_present)
    torch.manual_seed(6)
    net = nn.Sequential(nn.Linear(64, 24), nn.ReLU(), nn.Linear(24, 3))
    store = Store(args.store)
    saved = store.newest()
    first = 0
    if saved is not None:
        net.load_state_dict(saved["net"])
        first = saved["epoch"] + 1
        logging.info("go on at epoch %d", first)
    model = DistributedDataParallel(net)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    if saved is not None:
        optimizer.load_state_dict(saved["optimizer"])
    for epoch in range(first, args.epochs):
        sampler.set_epoch(epoch)
        counts = torch.zeros(2)
        for patches, labels in loader:
            logits = model(patches)
            loss = nn.functional.cross_entropy(logits, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            counts += torch.tensor([(logits.argmax(1) == labels).sum().item(), len(labels)])
        dist.all_reduce(counts)
        if rank == 0:
            logging.info("epoch %d accuracy %.3f of %d", epoch, counts[0] / counts[1], counts[1])
            store.write(epoch, {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch})
        dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
