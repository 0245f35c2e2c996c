import lightning as L
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR
from transformers import get_cosine_schedule_with_warmup


def warmup(optimizer, warmup_steps, total_steps):
    def rate(current):
        if current < warmup_steps:
            return current / warmup_steps
        return max(0.0, 1 - current / total_steps)

    return LambdaLR(optimizer, rate)


class Base(L.LightningModule):
    def optimizer(self):
        return torch.optim.AdamW(self.parameters())


class Inner(Base):
    def configure_optimizers(self):
        optimizer = self.optimizer()
        total = self.hparams.max_steps

        def rate(step):
            return max(0.0, 1 - step / total)

        scheduler = LambdaLR(optimizer, rate)
        return [optimizer], [{"scheduler": scheduler, "name": "lr"}]


class Helper(Base):
    def configure_optimizers(self):
        optimizer = self.optimizer()
        return [optimizer], [warmup(optimizer, self.hparams.warmup_steps, 100000)]


class OneCycle(Base):
    def configure_optimizers(self):
        optimizer = self.optimizer()
        scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches)
        return {"optimizer": optimizer, "lr_scheduler": scheduler}


class Hugging(Base):
    def configure_optimizers(self):
        optimizer = self.optimizer()
        steps = self.trainer.max_epochs * len(self.train_dataloader())
        config = {
            "scheduler": get_cosine_schedule_with_warmup(optimizer, 0.05 * steps, steps),
            "monitor": "loss",
        }
        return {"optimizer": optimizer, "lr_scheduler": config}


class Inline(Base):
    def configure_optimizers(self):
        optimizer = self.optimizer()
        scheduler = LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / self.hparams.warmup_steps))
        cosine = CosineAnnealingLR(optimizer, T_max=self.num_training_steps)
        return [optimizer], [scheduler, cosine]


class Logged(Base):
    def training_step(self, batch, batch_idx):
        self.log("lr", self.lr_schedulers().get_last_lr()[0])
        return self(batch).mean()

    def factor(self, step):
        return min(1.0, (step + 1) / self.hparams.warmup_steps)

    def configure_optimizers(self):
        optimizer = self.optimizer()
        return [optimizer], [LambdaLR(optimizer, self.factor)]


class LoggedByName(Base):
    def on_train_batch_end(self, outputs, batch, batch_idx):
        schedule = self.lr_schedulers()
        rates = schedule.get_last_lr()
        self.log("lr", rates[0])

    def optimizer_step(self, *args):
        self.optimizers().step()

    def configure_optimizers(self):
        optimizer = self.optimizer()
        cosine = CosineAnnealingLR(optimizer, T_max=self.trainer.max_steps)
        return {"optimizer": optimizer, "lr_scheduler": {"scheduler": cosine}}
