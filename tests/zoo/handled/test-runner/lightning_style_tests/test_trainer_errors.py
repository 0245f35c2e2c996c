import pytest
import torch
from lightning.pytorch import LightningModule, Trainer
from lightning.pytorch.callbacks import Callback, OnExceptionCheckpoint
from lightning.pytorch.demos.boring_classes import BoringModel
from lightning.fabric.utilities.exceptions import MisconfigurationException
from torch.multiprocessing import ProcessRaisedException


class CustomError(Exception):
    pass


class RaiseAt(Callback):
    def __init__(self, step):
        self.step = step

    def on_train_batch_end(self, trainer, module, outputs, batch, batch_idx):
        if batch_idx == self.step:
            raise CustomError(f"step {self.step}")


def options(tmp_path, **more):
    return dict(default_root_dir=tmp_path, accelerator="cpu", max_epochs=1, limit_train_batches=3, limit_val_batches=0,
                logger=False, enable_progress_bar=False, enable_model_summary=False, **more)


def test_checkpoint_on_exception(tmp_path):
    save = OnExceptionCheckpoint(tmp_path, filename="failed")
    trainer = Trainer(callbacks=[save, RaiseAt(1)], **options(tmp_path))
    with pytest.raises(CustomError, match="step 1"):
        trainer.fit(BoringModel())
    assert (tmp_path / "failed.ckpt").exists()


def test_error_in_spawned_ranks_reaches_the_caller(tmp_path):
    trainer = Trainer(enable_checkpointing=False, strategy="ddp_spawn", devices=2, callbacks=[RaiseAt(0)], **options(tmp_path))
    with pytest.raises(ProcessRaisedException, match="CustomError"):
        trainer.fit(BoringModel())


def test_no_training_step(tmp_path):
    class NoStep(BoringModel):
        training_step = LightningModule.training_step

    with pytest.raises(MisconfigurationException, match="No `training_step"):
        Trainer(enable_checkpointing=False, **options(tmp_path)).fit(NoStep())
