import os
import tempfile

import torch
from torch.utils.data import DataLoader

from forecast.journal import Journal
from forecast.model import Forecaster
from forecast.windows import Windows


def train(model, loader, epochs, journal):
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    for epoch in range(epochs):
        for step, (past, future) in enumerate(loader):
            loss = torch.nn.functional.mse_loss(model(past), future)
            opt.zero_grad()
            loss.backward()
            opt.step()
            journal.add("step", epoch=epoch, step=step, loss=loss.item())
        print(f"epoch {epoch} mse {loss.item():.4f}", flush=True)


def main():
    torch.manual_seed(0)
    data = Windows(hours=59 + 64 * 20 + 1)
    loader = DataLoader(data, batch_size=64, shuffle=True)
    model = Forecaster(data.lags, data.horizon)
    folder = tempfile.mkdtemp(prefix="forecast-")
    with Journal(os.path.join(folder, "journal.jsonl")) as journal:
        train(model, loader, epochs=6, journal=journal)
    torch.save(model.state_dict(), os.path.join(folder, "model.pt"))
    print(f"training finished, model in {folder}")


if __name__ == "__main__":
    main()
