import lightning as L
import torch
from diffusers.optimization import get_scheduler


class Constant(L.LightningModule):
    def configure_optimizers(self):
        optimizer = torch.optim.AdamW(self.parameters())
        scheduler = get_scheduler(
            name="constant",
            optimizer=optimizer,
            num_warmup_steps=self.args.lr_warmup_steps,
            num_training_steps=self.args.max_train_steps,
        )
        return [optimizer], [scheduler]
