from datetime import timedelta

import lightning as L
import torch
from lightning.pytorch.strategies import DDPStrategy
from torch import nn

from corpus import Corpus, collate
from sampling import LengthBuckets


class Bag(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.embed = nn.EmbeddingBag(300, 16)
        self.head = nn.Linear(16, 2)

    def training_step(self, batch, index):
        words, offsets, labels = batch
        return nn.functional.cross_entropy(self.head(self.embed(words, offsets)), labels)

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


class Data(L.LightningDataModule):
    def train_dataloader(self):
        corpus = Corpus(300)
        sampler = LengthBuckets(corpus.lengths, 400, self.trainer.global_rank, self.trainer.world_size)
        return torch.utils.data.DataLoader(corpus, batch_sampler=sampler, collate_fn=collate)


def main():
    L.seed_everything(4)
    trainer = L.Trainer(
        accelerator="cpu", devices=2, max_epochs=3, logger=False, enable_checkpointing=False, enable_progress_bar=False,
        use_distributed_sampler=False,
        strategy=DDPStrategy(process_group_backend="gloo", timeout=timedelta(minutes=30)),
    )
    trainer.fit(Bag(), datamodule=Data())
    print(f"rank {trainer.global_rank}: {trainer.global_step} steps", flush=True)
    trainer.save_checkpoint("bag.ckpt")


if __name__ == "__main__":
    main()
