import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from .checkpoints import Checkpointer
from .data import ToneWords, estimate_cmvn
from .model import Frontend, KeywordNet

log = logging.getLogger("kws")


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=12)
    p.add_argument("--batch", type=int, default=16)
    p.add_argument("--items", type=int, default=2400)
    p.add_argument("--ckpt-interval", type=float, default=8.0)
    p.add_argument("--out", default="exp/kws")
    return p.parse_args()


def run_epoch(epoch, loader, model, optim, saver, step):
    loader.sampler.set_epoch(epoch)
    for wave, label in loader:
        loss = torch.nn.functional.cross_entropy(model(wave), label)
        optim.zero_grad()
        loss.backward()
        optim.step()
        step += 1
        if step % 20 == 0:
            log.info("epoch %d step %d loss %.4f", epoch, step, loss.item())
        if saver.due():
            saver.save(model, optim, step)
    return step


def main():
    args = parse()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO if rank == 0 else logging.WARNING, format="%(name)s %(message)s")
    torch.manual_seed(0)
    data = ToneWords(args.items)
    dist.barrier()
    stats = [None]
    if rank == 0:
        stats = [estimate_cmvn(data, Frontend(), args.items)]
    saver = Checkpointer(args.out, args.ckpt_interval)
    dist.broadcast_object_list(stats, src=0)
    model = DDP(KeywordNet(*stats[0]))
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    loader = DataLoader(data, batch_size=args.batch, sampler=DistributedSampler(data, seed=1), drop_last=True)
    step = 0
    for epoch in range(args.epochs):
        step = run_epoch(epoch, loader, model, optim, saver, step)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
