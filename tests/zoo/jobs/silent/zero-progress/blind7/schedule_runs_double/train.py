import json
from pathlib import Path

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from schedules import linear_with_warmup

torch.set_num_threads(1)


class Regressor(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.rnn = nn.GRU(3, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x):
        return self.out(self.rnn(x)[1][-1]).squeeze(-1)


def sequences(n=800, length=12):
    x = torch.randn(n, length, 3)
    return TensorDataset(x, (x[:, :, 0] * x[:, :, 1].sign()).mean(1))


def main():
    cfg = json.loads(Path(__file__).with_name("config.json").read_text())
    accelerator = Accelerator(cpu=True)
    set_seed(0)
    loader = DataLoader(sequences(), batch_size=cfg["batch_size"], shuffle=True)
    model = Regressor(cfg["hidden"])
    optimizer = torch.optim.AdamW(model.parameters(), lr=cfg["lr"])
    scheduler = linear_with_warmup(optimizer, cfg["warmup_steps"], cfg["max_train_steps"])
    model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
    step, done = 0, False
    while not done:
        for x, y in loader:
            loss = nn.functional.mse_loss(model(x), y)
            accelerator.backward(loss)
            accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
            step += 1
            if step % cfg["log_every"] == 0:
                accelerator.print(f"step {step} loss {loss.item():.4f}", flush=True)
            if step >= cfg["max_train_steps"]:
                done = True
                break
    accelerator.end_training()


if __name__ == "__main__":
    main()
