import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from module import MaskedUnits, PretrainModule
from units import UnitDataset

log = logging.getLogger("hubert")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=2)
    p.add_argument("--batch", type=int, default=4)
    p.add_argument("--log-every", type=int, default=20)
    args = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"rank{rank} %(message)s")
    torch.manual_seed(40 + rank)
    data = UnitDataset()
    loader = DataLoader(data, args.batch, sampler=DistributedSampler(data, shuffle=False), drop_last=True)
    model = DistributedDataParallel(MaskedUnits())
    module = PretrainModule(model, torch.optim.Adam(model.parameters(), 1e-3))
    for epoch in range(args.epochs):
        for step, batch in enumerate(loader):
            loss = module.training_step(batch)
            if step % args.log_every == 0:
                log.info("epoch %d step %d loss %s frames %d", epoch, step, loss, module.frames_seen)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
