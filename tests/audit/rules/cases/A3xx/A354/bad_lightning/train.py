import lightning as L
from lightning.pytorch.callbacks import EarlyStopping, ModelCheckpoint

from module import Module, loaders


def main():
    keep = ModelCheckpoint(monitor="val_acc", filename="{epoch}-{val_acc:.3f}")
    stop = EarlyStopping("val_loss", mode="max", patience=5)
    trainer = L.Trainer(callbacks=[keep, stop])
    trainer.fit(Module(), *loaders())
    trainer.test(ckpt_path=keep.best_model_path)


main()
