import argparse
from datetime import timedelta

import lightning as L
import torch
from lightning.pytorch.strategies import DDPStrategy

from gan.data import SignalData
from gan.module import SignalGAN

parser = argparse.ArgumentParser()
parser.add_argument("--epochs", type=int, default=3)
parser.add_argument("--batch-size", type=int, default=8)


if __name__ == "__main__":
    args = parser.parse_args()
    L.seed_everything(0)
    torch.set_num_threads(1)
    trainer = L.Trainer(
        accelerator="cpu", devices=2, max_epochs=args.epochs, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, use_distributed_sampler=False,
        strategy=DDPStrategy(process_group_backend="gloo", timeout=timedelta(minutes=15), find_unused_parameters=True),
    )
    trainer.fit(SignalGAN(), datamodule=SignalData(160, args.batch_size))
    print(f"rank {trainer.global_rank} finished", flush=True)
