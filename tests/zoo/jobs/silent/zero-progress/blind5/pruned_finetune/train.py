import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from speedup import ModelSpeedup


class SensorNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))

    def forward(self, x):
        return self.body(x)


def make_data(n=512):
    g = torch.Generator().manual_seed(9)
    x = torch.randn(n, 12, generator=g)
    y = (x[:, :3] * 1.5 + x[:, 3:6] * x[:, 6:9]).argmax(1)
    return TensorDataset(x, y)


def main():
    torch.set_num_threads(1)
    accelerator = Accelerator(cpu=True, mixed_precision="no")
    set_seed(33)
    model = SensorNet()
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    ModelSpeedup(model, sparsity=0.5).speedup_model()
    loader = DataLoader(make_data(), batch_size=8, shuffle=True)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=64)
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    criterion = nn.CrossEntropyLoss()

    step = 0
    for epoch in range(1):
        for x, y in loader:
            loss = criterion(model(x), y)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            step += 1
            if step % 8 == 0:
                mean = accelerator.gather(loss.detach().reshape(1)).mean().item()
                accelerator.print(f"finetune step {step}: loss {mean:.4f}", flush=True)
    accelerator.wait_for_everyone()
    accelerator.end_training()


if __name__ == "__main__":
    main()
