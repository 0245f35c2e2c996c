import logging
import warnings

import lightning as L
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

warnings.filterwarnings("ignore")
logging.getLogger("lightning.pytorch").setLevel(logging.WARNING)


class Regression(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(10, 64), nn.ReLU(), nn.Linear(64, 1))
        self.norms = {}

    def watch(self):
        handles = []
        for name, module in self.body.named_children():
            def keep(module, inputs, output, name=name):
                self.norms[name] = output.detach().norm().item()
            handles.append(module.register_forward_hook(keep))
        return handles

    def training_step(self, batch, index):
        x, y = batch
        handles = self.watch()
        loss = nn.functional.mse_loss(self.body(x), y)
        for handle in handles:
            handle.remove()
        return loss

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters(), 1e-3)


def main():
    torch.manual_seed(11)
    x = torch.randn(1024, 10)
    loader = DataLoader(TensorDataset(x, x[:, :1].sin()), 32, shuffle=True)
    trainer = L.Trainer(max_epochs=10, accelerator="cpu", devices=1, logger=False, enable_checkpointing=False,
                        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Regression(), loader)
    print("done", flush=True)


if __name__ == "__main__":
    main()
