import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def main():
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    set_seed(5)
    x = torch.randn(3400, 10)
    y = (x[:, :5].sum(1) > x[:, 5:].sum(1)).long()
    train = DataLoader(TensorDataset(x[:3200], y[:3200]), batch_size=6, shuffle=True)
    test = DataLoader(TensorDataset(x[3200:], y[3200:]), batch_size=64)
    model = nn.Sequential(nn.Linear(10, 32), nn.ReLU(), nn.Dropout(0.1), nn.Linear(32, 2))
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
    model, optimizer, train = accelerator.prepare(model, optimizer, train)
    best = 0.0
    for epoch in range(2):
        model.train()
        for xb, yb in train:
            with accelerator.accumulate(model):
                loss = nn.functional.cross_entropy(model(xb), yb)
                accelerator.backward(loss)
                optimizer.step()
                optimizer.zero_grad()
        model.eval()
        with torch.no_grad():
            hits = sum((model(xb).argmax(1) == yb).sum().item() for xb, yb in test)
        best = max(best, hits / 200)
        accelerator.print(f"epoch {epoch} accuracy {hits / 200:.3f} best {best:.3f}", flush=True)
    accelerator.end_training()


if __name__ == "__main__":
    main()
