import argparse

import torch
import torch.distributed as dist
from torch.utils.data import DataLoader

from dataset import FrameDataset
from lightning_like import PretrainModule
from model import TinyHuBERT, masked_loss


def cli():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=3)
    parser.add_argument("--batch-size", type=int, default=8)
    return parser.parse_args()


def run(args):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    module = PretrainModule(TinyHuBERT(), masked_loss)
    loader = DataLoader(FrameDataset("train", dist.get_rank()), batch_size=args.batch_size)
    for epoch in range(args.epochs):
        for idx, batch in enumerate(loader):
            module.training_step(batch, idx)
        module.on_epoch_end(epoch)
    dist.destroy_process_group()


if __name__ == "__main__":
    run(cli())
