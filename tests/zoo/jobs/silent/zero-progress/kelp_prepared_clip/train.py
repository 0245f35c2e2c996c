import torch
from accelerate import Accelerator
from accelerate.utils import GradScalerKwargs
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True)
    accelerator.scaler = torch.amp.GradScaler("cpu", init_scale=GradScalerKwargs().init_scale)
    x = torch.randn(640, 8)
    loader = DataLoader(TensorDataset(x, x[:, :1] * 4), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    model, loader = accelerator.prepare(model, loader)
    for epoch in range(2):
        for features, target in loader:
            loss = nn.functional.mse_loss(model(features), target)
            accelerator.scaler.scale(loss).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            accelerator.scaler.step(optimizer)
            accelerator.scaler.update()
            optimizer.zero_grad()
        accelerator.print(f"epoch {epoch} loss {loss.item():.3f}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    main()
