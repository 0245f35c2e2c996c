import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

TAGS = 5


def loader(count, shuffle):
    words = torch.randint(50, (count, 12), generator=torch.Generator().manual_seed(count))
    return DataLoader(TensorDataset(words, words % TAGS), batch_size=16, shuffle=shuffle)


class Tagger(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(50, 16)
        self.head = nn.Linear(16, TAGS)
        self.confusion = torch.zeros(TAGS, TAGS)

    def forward(self, words):
        return self.head(self.embed(words))

    def training_step(self, batch, index):
        words, tags = batch
        loss = nn.functional.cross_entropy(self(words).flatten(0, 1), tags.flatten())
        self.log("train_loss", loss, on_step=False, on_epoch=True, sync_dist=True)
        return loss

    def validation_step(self, batch, index):
        words, tags = batch
        predicted = self(words).argmax(-1)
        for tag, guess in zip(tags.flatten().tolist(), predicted.flatten().tolist()):
            self.confusion[tag, guess] += 1

    def on_validation_epoch_end(self):
        accuracy = self.confusion.diag().sum() / self.confusion.sum()
        self.log("val_accuracy", accuracy, sync_dist=True)
        self.confusion.zero_()

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=0.02)
