import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from stopping import StopOnPlateau


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 24), nn.SiLU(), nn.Linear(24, 1))

    def training_step(self, batch, index):
        x, y = batch
        loss = nn.functional.mse_loss(self.net(x), y)
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), lr=5e-3)


def main():
    L.seed_everything(2)
    x = torch.randn(200, 4)
    y = x[:, :1] ** 2
    y[1::2] += 3 * torch.randn(100, 1)  # the second instrument is noisy
    trainer = L.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=30, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False, callbacks=[StopOnPlateau(patience=3)],
        use_distributed_sampler=False,
    )
    data = TensorDataset(x, y)
    sampler = torch.utils.data.DistributedSampler(data, num_replicas=2, rank=trainer.global_rank, shuffle=False)
    trainer.fit(Regression(), DataLoader(data, batch_size=10, sampler=sampler))
    print(f"rank {trainer.global_rank} ended in epoch {trainer.current_epoch}", flush=True)
    trainer.save_checkpoint("final.ckpt")


if __name__ == "__main__":
    main()
