import lightning as L
import torch
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint
from torch.utils.data import DataLoader, TensorDataset

from teacher import MeanTeacher


def samples(n, seed, labelled=None):
    g = torch.Generator().manual_seed(seed)
    x = torch.randn(n, 12, generator=g)
    y = torch.stack([x[:, :3].sum(1), x[:, 3:6].sum(1), x[:, 6:9].sum(1)], 1).argmax(1)
    if labelled is None:
        return TensorDataset(x, y)
    return TensorDataset(x, y, (torch.rand(n, generator=g) < labelled).float())


def main():
    torch.set_num_threads(1)
    L.seed_everything(0)
    best = ModelCheckpoint(dirpath="checkpoints", monitor="val_acc", mode="max", save_top_k=1)
    trainer = L.Trainer(
        accelerator="cpu",
        devices=1,
        max_epochs=12,
        callbacks=[best, EarlyStopping("val_acc", mode="max", patience=2, min_delta=0.002)],
        logger=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        num_sanity_val_steps=0,
    )
    trainer.fit(
        MeanTeacher(),
        DataLoader(samples(768, 0, labelled=0.25), batch_size=24, shuffle=True, drop_last=True),
        DataLoader(samples(300, 1), batch_size=100),
    )
    print(f"epochs {trainer.current_epoch} steps {trainer.global_step} best {best.best_model_score:.3f}", flush=True)


if __name__ == "__main__":
    main()
