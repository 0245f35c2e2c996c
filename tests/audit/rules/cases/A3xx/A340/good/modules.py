import lightning as L
import torch
from torch.optim.lr_scheduler import CosineAnnealingLR, LambdaLR, OneCycleLR, ReduceLROnPlateau


class Told(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        scheduler = OneCycleLR(optimizer, max_lr=0.1, total_steps=self.trainer.estimated_stepping_batches)
        return [optimizer], [{"scheduler": scheduler, "interval": "step"}]


class ToldLater(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        config = {"scheduler": LambdaLR(optimizer, lambda step: min(1.0, step / self.hparams.warmup_steps))}
        config["interval"] = "step"
        return {"optimizer": optimizer, "lr_scheduler": config}


class ByEpoch(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        cosine = CosineAnnealingLR(optimizer, T_max=self.trainer.max_epochs)
        return [optimizer], [cosine, LambdaLR(optimizer, lambda step: 0.95**step)]


class Quotient(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        epochs = self.hparams.max_steps // len(self.train_dataloader())
        return [optimizer], [CosineAnnealingLR(optimizer, epochs)]


class Plateau(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        return {"optimizer": optimizer, "lr_scheduler": ReduceLROnPlateau(optimizer), "monitor": "loss"}


class ByHand(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        return [optimizer], [CosineAnnealingLR(optimizer, T_max=self.hparams.max_steps)]

    def on_train_batch_end(self, outputs, batch, batch_idx):
        self.lr_schedulers().step()


class Settings(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        scheduler = CosineAnnealingLR(optimizer, T_max=self.hparams.max_steps)
        return [optimizer], [{"scheduler": scheduler, **self.hparams.scheduling}]


class Nothing:
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        return [optimizer], [CosineAnnealingLR(optimizer, T_max=self.max_steps)]


class ByHandByName(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        return [optimizer], [CosineAnnealingLR(optimizer, T_max=self.hparams.max_steps)]

    def on_train_batch_end(self, outputs, batch, batch_idx):
        chosen = self.lr_schedulers()
        chosen.step()
        self.log("lr", chosen.get_last_lr()[0])


class HandedOn(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        return [optimizer], [CosineAnnealingLR(optimizer, T_max=self.hparams.max_steps)]

    def on_train_batch_end(self, outputs, batch, batch_idx):
        advance(self.lr_schedulers(), self.global_step)


class EachOne(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        return [optimizer], [LambdaLR(optimizer, lambda step: min(1.0, step / self.hparams.warmup_steps))]

    def on_train_batch_end(self, outputs, batch, batch_idx):
        for one in self.lr_schedulers():
            one.step()
