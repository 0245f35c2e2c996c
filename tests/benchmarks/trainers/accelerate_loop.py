"""A small regression under Accelerate, two CPU processes; rank 0 prints the loss."""

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch.utils.data import DataLoader, TensorDataset


def main() -> None:
    set_seed(0)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    if accelerator.num_processes != 2:
        raise SystemExit(f"{accelerator.num_processes} processes, not 2")
    inputs = torch.randn(256, 8)
    data = TensorDataset(inputs, inputs.sum(dim=1, keepdim=True))
    model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.Linear(32, 1))
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.StepLR(optimizer, 10)
    model, optimizer, loader, schedule = accelerator.prepare(
        model, optimizer, DataLoader(data, batch_size=16, shuffle=True), schedule
    )
    for _ in range(2):
        for batch, targets in loader:
            with accelerator.accumulate(model):
                loss = torch.nn.functional.mse_loss(model(batch), targets)
                accelerator.backward(loss)
                optimizer.step()
                schedule.step()
                optimizer.zero_grad()
    total = accelerator.gather_for_metrics(loss.detach().reshape(1)).mean()
    accelerator.print(f"loss {total.item():.9f}")
    accelerator.end_training()


if __name__ == "__main__":
    main()
