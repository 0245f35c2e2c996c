import argparse

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.utils.data import DataLoader, TensorDataset

torch.set_num_threads(1)


def topics(n, seed):
    g = torch.Generator().manual_seed(seed)
    centers = torch.randn(8, 40, generator=torch.Generator().manual_seed(12))
    y = torch.randint(0, 8, (n,), generator=g)
    return TensorDataset(0.6 * centers[y] + torch.randn(n, 40, generator=g), y)


def mlp(width):
    return nn.Sequential(nn.Linear(40, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, 8))


class DistillLoss(nn.Module):
    """Label smoothing on the hard labels and a temperature on the soft ones."""

    def __init__(self, temperature, alpha, smoothing):
        super().__init__()
        self.t, self.alpha = temperature, alpha
        self.hard = nn.CrossEntropyLoss(label_smoothing=smoothing)

    def forward(self, student, teacher, target):
        soft = F.kl_div(F.log_softmax(student / self.t, 1), F.log_softmax(teacher / self.t, 1), reduction="batchmean",
                        log_target=True) * self.t ** 2
        return self.alpha * soft + (1 - self.alpha) * self.hard(student, target)


@torch.no_grad()
def accuracy(model, loader):
    model.eval()
    return sum((model(x).argmax(1) == y).sum().item() for x, y in loader) / len(loader.dataset)


def fit(model, loader, epochs, step_loss, lr):
    opt = torch.optim.AdamW(model.parameters(), lr=lr)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, lr, total_steps=epochs * len(loader))
    for epoch in range(epochs):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = step_loss(x, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        print(f"epoch {epoch} loss {total / len(loader):.4f}", flush=True)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--temperature", type=float, default=3.0)
    ap.add_argument("--alpha", type=float, default=0.6)
    ap.add_argument("--smoothing", type=float, default=0.1)
    args = ap.parse_args()
    torch.manual_seed(0)
    train = DataLoader(topics(3000, 0), batch_size=50, shuffle=True)
    test = DataLoader(topics(1000, 1), batch_size=250)
    teacher = mlp(256)
    fit(teacher, train, 4, lambda x, y: F.cross_entropy(teacher(x), y), 3e-3)
    print(f"teacher {accuracy(teacher, test):.3f}")
    teacher.eval().requires_grad_(False)
    student = mlp(24)
    criterion = DistillLoss(args.temperature, args.alpha, args.smoothing)

    def distill(x, y):
        with torch.no_grad():
            soft = teacher(x)
        return criterion(student(x), soft, y)

    fit(student, train, 8, distill, 3e-3)
    print(f"student {accuracy(student, test):.3f}")


if __name__ == "__main__":
    main()
