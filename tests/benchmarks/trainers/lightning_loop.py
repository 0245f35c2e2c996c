"""A small regression under Lightning's Trainer, DDP on two CPU processes; rank 0 prints the loss."""

import lightning
import torch
from torch.utils.data import DataLoader, TensorDataset


class Regression(lightning.LightningModule):
    def __init__(self) -> None:
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 1))

    def training_step(self, batch: tuple[torch.Tensor, torch.Tensor], index: int) -> torch.Tensor:
        inputs, targets = batch
        return torch.nn.functional.mse_loss(self.net(inputs), targets)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.AdamW(self.parameters(), lr=1e-2)


def main() -> None:
    lightning.seed_everything(0)
    inputs = torch.randn(256, 8)
    data = TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    trainer = lightning.Trainer(
        accelerator="cpu", devices=2, strategy="ddp", max_epochs=2, logger=False, enable_checkpointing=False,
        enable_progress_bar=False, use_distributed_sampler=True,
    )  # fmt: skip
    model = Regression()
    trainer.fit(model, DataLoader(data, batch_size=16, shuffle=True))
    if trainer.is_global_zero:
        with torch.no_grad():
            print(f"loss {torch.nn.functional.mse_loss(model.net(inputs), data.tensors[1]).item():.9f}")


if __name__ == "__main__":
    main()
