import warnings

import lightning.pytorch as pl
import torch
import torch.distributed as dist
from torch import nn

from datamodule import VariantDataModule

warnings.filterwarnings("ignore")


class VariantRegressor(pl.LightningModule):
    def __init__(self, dim=24):
        super().__init__()
        self.embed = nn.Embedding(21, dim, padding_idx=20)
        self.conv = nn.Conv1d(dim, dim, 3, padding=1)
        self.head = nn.Linear(dim, 1)

    def forward(self, seqs):
        x = torch.relu(self.conv(self.embed(seqs).transpose(1, 2)))
        keep = (seqs != 20).unsqueeze(1)
        return self.head((x * keep).sum(2) / keep.sum(2)).squeeze(-1)

    def training_step(self, batch, batch_idx):
        seqs, targets = batch
        loss = nn.functional.mse_loss(self(seqs), targets)
        if batch_idx == 0 and self.global_rank == 0:
            print(f"epoch {self.current_epoch}: loss {loss.item():.4f}", flush=True)
        return loss

    def configure_optimizers(self):
        return torch.optim.AdamW(self.parameters(), lr=4e-3)


if __name__ == "__main__":
    torch.set_num_threads(1)
    pl.seed_everything(7, verbose=False)
    trainer = pl.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=4, use_distributed_sampler=False, logger=False,
        enable_checkpointing=False, enable_progress_bar=False, enable_model_summary=False,
    )
    trainer.fit(VariantRegressor(), datamodule=VariantDataModule())
    dist.barrier()
    dist.destroy_process_group()
