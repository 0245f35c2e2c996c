import argparse
import logging

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

from valle.datamodule import TtsDataModule
from valle.metrics import MetricsTracker
from valle.model import VALLF


def get_params():
    parser = argparse.ArgumentParser()
    parser.add_argument("--num-epochs", type=int, default=5)
    parser.add_argument("--num-cuts", type=int, default=160)
    parser.add_argument("--max-duration", type=float, default=20.0)
    parser.add_argument("--reset-interval", type=int, default=20)
    parser.add_argument("--log-interval", type=int, default=5)
    parser.add_argument("--vocab", type=int, default=64)
    return parser.parse_args()


def compute_loss(model, batch, is_training):
    with torch.set_grad_enabled(is_training):
        loss, frames = model(batch["tokens"], batch["lens"])
    info = MetricsTracker()
    info["frames"] = int(frames)
    info["loss"] = loss.detach().item()
    return loss / frames, info


def compute_validation_loss(model, valid_dl):
    model.eval()
    tot_loss = MetricsTracker()
    for batch in valid_dl:
        _, info = compute_loss(model.module, batch, is_training=False)
        tot_loss = tot_loss + info
    tot_loss.reduce()
    return tot_loss


def train_one_epoch(params, epoch, model, optimizer, train_dl, valid_dl):
    model.train()
    tot_loss = MetricsTracker()
    for batch_idx, batch in enumerate(train_dl):
        loss, info = compute_loss(model, batch, is_training=True)
        tot_loss = tot_loss * (1 - 1 / params.reset_interval) + info
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if batch_idx % params.log_interval == 0 and dist.get_rank() == 0:
            logging.info(f"epoch {epoch}, batch {batch_idx}, train {tot_loss}")
    valid_info = compute_validation_loss(model, valid_dl)
    if dist.get_rank() == 0:
        logging.info(f"epoch {epoch}, validation: {valid_info}")


def main():
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(message)s")
    params = get_params()
    dist.init_process_group("gloo")
    torch.manual_seed(42)
    data = TtsDataModule(params)
    train_dl, valid_dl = data.train_dataloaders(), data.valid_dataloaders()
    model = DDP(VALLF(params.vocab))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    for epoch in range(1, params.num_epochs + 1):
        train_dl.batch_sampler.set_epoch(epoch)
        train_one_epoch(params, epoch, model, optimizer, train_dl, valid_dl)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
