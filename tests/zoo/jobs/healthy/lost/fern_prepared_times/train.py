import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

STEPS = 60


def main():
    torch.set_num_threads(1)
    torch.manual_seed(0)
    accelerator = Accelerator(cpu=True)
    x = torch.randn(1920, 6)
    loader = DataLoader(TensorDataset(x, x[:, :1]), batch_size=16, shuffle=True)
    model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS * accelerator.num_processes, eta_min=1e-4)
    model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    for step, (features, target) in enumerate(loader, 1):
        loss = nn.functional.mse_loss(model(features), target)
        accelerator.backward(loss)
        optimizer.step()
        schedule.step()
        optimizer.zero_grad()
        if step % 20 == 0:
            accelerator.print(f"step {step} rate {schedule.get_last_lr()[0]:.5f}", flush=True)
        if step == STEPS:
            break
    accelerator.end_training()


if __name__ == "__main__":
    main()
