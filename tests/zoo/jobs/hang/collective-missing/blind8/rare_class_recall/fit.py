import lightning as L
import torch
from torch.utils.data import DataLoader, TensorDataset

from module import Tagger

RARE = 3


def split(count, seed, rare_at):
    gen = torch.Generator().manual_seed(seed)
    x = torch.randn(count, 10, generator=gen)
    y = torch.randint(0, RARE, (count,), generator=gen)
    y[rare_at] = RARE
    return TensorDataset(x, y)


def main():
    L.seed_everything(1, verbose=False)
    train = DataLoader(split(360, 1, torch.arange(0, 360, 7)), batch_size=12, shuffle=True)
    val = DataLoader(split(90, 2, torch.tensor([5, 17, 44, 71])), batch_size=10)
    trainer = L.Trainer(
        accelerator="cpu",
        devices=3,
        strategy="ddp",
        max_epochs=3,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(Tagger(classes=RARE + 1, rare=RARE), train, val)
    if trainer.is_global_zero:
        print({name: round(float(value), 3) for name, value in trainer.callback_metrics.items()})


if __name__ == "__main__":
    main()
