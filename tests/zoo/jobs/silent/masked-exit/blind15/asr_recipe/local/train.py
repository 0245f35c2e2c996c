import argparse
import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, DistributedSampler

from net import Conformerish, LabelSmoother


def collate(items):
    frames = pad_sequence([f for f, _ in items], True)
    text = pad_sequence([t for _, t in items], True)
    return frames, torch.tensor([len(f) for f, _ in items]), text, torch.tensor([len(t) for _, t in items])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--data")
    p.add_argument("--exp")
    p.add_argument("--epochs", type=int, default=4)
    a = p.parse_args()
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    logging.basicConfig(level=logging.INFO, format=f"%(asctime)s [{rank}] %(message)s")
    data = torch.load(a.data)
    sampler = DistributedSampler(data, seed=3)
    loader = DataLoader(data, 10, sampler=sampler, collate_fn=collate)
    model = DistributedDataParallel(Conformerish())
    opt = torch.optim.Adam(model.parameters(), 3e-3)
    smoother = LabelSmoother()
    for epoch in range(a.epochs):
        sampler.set_epoch(epoch)
        for step, (frames, flen, text, tlen) in enumerate(loader):
            logp = model(frames)
            loss = nn.functional.ctc_loss(logp.transpose(0, 1), text.clamp_max(11), flen, tlen, zero_infinity=True)
            prior = smoother.prior().log()
            loss = loss + 0.01 * nn.functional.kl_div(logp.mean((0, 1)), prior, log_target=True, reduction="sum")
            opt.zero_grad()
            loss.backward()
            opt.step()
            if epoch > 0:
                smoother.update(text.flatten())
        if rank == 0:
            torch.save(model.module.state_dict(), os.path.join(a.exp, "last.pt"))
        logging.info("epoch %d loss %.3f", epoch, loss.item())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
