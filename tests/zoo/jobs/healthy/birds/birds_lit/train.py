import lightning
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Songs(Dataset):
    """Mel bands of bird songs; the species follows from the loudest bands."""

    def __init__(self, count, seed=3):
        generator = torch.Generator().manual_seed(seed)
        self.bands = torch.randn(count, 16, generator=generator)
        self.species = self.bands[:, :4].argmax(1)

    def __len__(self):
        return len(self.bands)

    def __getitem__(self, index):
        return self.bands[index], self.species[index]


class Classifier(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))

    def training_step(self, batch, index):
        songs, species = batch
        return nn.functional.cross_entropy(self.net(songs), species)

    def validation_step(self, batch, index):
        songs, species = batch
        self.log("right", (self.net(songs).argmax(1) == species).float().mean(), sync_dist=True)

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


def main():
    lightning.seed_everything(11)
    loader = DataLoader(Songs(256), batch_size=16, shuffle=True)
    val_loader = DataLoader(Songs(64, seed=4), batch_size=16)
    trainer = lightning.Trainer(
        accelerator="cpu",
        devices=2,
        strategy="ddp",
        max_epochs=3,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
    )
    trainer.fit(Classifier(), loader, val_loader)


if __name__ == "__main__":
    main()
