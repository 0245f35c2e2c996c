import lightning.pytorch as pl
import torch

CLASSES = ["water", "forest", "crop"]


class Segmenter(pl.LightningModule):
    def _losses(self, batch):
        bands, mask = batch
        pixel = torch.nn.functional.cross_entropy(self(bands), mask, reduction="none")
        per_class = {}
        for index, name in enumerate(CLASSES):
            chosen = mask == index
            if chosen.any():
                per_class[name] = pixel[chosen].mean()
        return pixel.mean(), per_class

    def validation_step(self, batch, batch_idx):
        loss, per_class = self._losses(batch)
        self.log_dict({f"val/{k}": v for k, v in per_class.items()}, sync_dist=True)

    def test_step(self, batch, batch_idx):
        loss, per_class = self._losses(batch)
        for name, value in per_class.items():
            self.log(f"test/{name}", value, sync_dist=True)
