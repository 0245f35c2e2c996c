import argparse
import warnings

import lightning as L

from datamodule import Rare
from module import Classifier

warnings.filterwarnings("ignore")


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--devices", type=int, default=2)
    ap.add_argument("--epochs", type=int, default=4)
    args = ap.parse_args()
    L.seed_everything(1)
    trainer = L.Trainer(accelerator="cpu", devices=args.devices, strategy="ddp", max_epochs=args.epochs,
                        num_sanity_val_steps=0, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    trainer.fit(Classifier(), datamodule=Rare())
    trainer.print(trainer.callback_metrics)


if __name__ == "__main__":
    main()
