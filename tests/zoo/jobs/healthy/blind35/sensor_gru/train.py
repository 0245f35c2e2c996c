import argparse
import math

import torch
import torch.nn.functional as F
from torch import nn


class SensorModel(nn.Module):
    """Sequences come as (time, stream, feature), the layout that nn.GRU takes without batch_first."""

    def __init__(self, features, hidden):
        super().__init__()
        self.gru = nn.GRU(features, hidden)
        self.head = nn.Linear(hidden, features)

    def forward(self, x, state=None):
        out, state = self.gru(x, state)
        return x + self.head(out), state


def streams(count, length, seed):
    g = torch.Generator().manual_seed(seed)
    t = torch.arange(length)[:, None, None] / 12.0
    phase = torch.rand(1, count, 3, generator=g) * 2 * math.pi
    speed = 0.7 + 0.6 * torch.rand(1, count, 3, generator=g)
    return torch.sin(speed * t + phase) + 0.05 * torch.randn(length, count, 3, generator=g)


def train_pass(model, data, optimizer, chunk, accumulate):
    model.train()
    state, total, steps = None, 0.0, 0
    pieces = (len(data) - 1) // chunk
    optimizer.zero_grad()
    for k in range(pieces):
        x = data[k * chunk:(k + 1) * chunk]
        y = data[k * chunk + 1:(k + 1) * chunk + 1]
        pred, state = model(x, state)
        loss = F.mse_loss(pred, y)
        (loss / accumulate).backward()
        state = state.detach()
        if (k + 1) % accumulate == 0 or k + 1 == pieces:
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        total += loss.item()
        steps += 1
    return total / steps


@torch.no_grad()
def evaluate(model, data):
    model.eval()
    pred, _ = model(data[:-1])
    return F.mse_loss(pred, data[1:]).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=8)
    p.add_argument("--chunk", type=int, default=25)
    p.add_argument("--accumulate", type=int, default=2)
    p.add_argument("--lr", type=float, default=5e-3)
    p.add_argument("--patience", type=int, default=3)
    args = p.parse_args()
    torch.manual_seed(0)
    train, val = streams(24, 1001, seed=1), streams(8, 400, seed=2)
    model = SensorModel(3, 32)
    optimizer = torch.optim.Adam(model.parameters(), lr=args.lr)
    best, best_state, bad = float("inf"), None, 0
    for epoch in range(args.epochs):
        loss, score = train_pass(model, train, optimizer, args.chunk, args.accumulate), evaluate(model, val)
        print(f"epoch {epoch} mse {loss:.5f} val {score:.5f}", flush=True)
        if score < best:
            best, bad = score, 0
            best_state = {k: v.clone() for k, v in model.state_dict().items()}
        else:
            bad += 1
            if bad >= args.patience:
                break
    model.load_state_dict(best_state)
    print(f"best {best:.5f} again {evaluate(model, val):.5f}")
    torch.save(best_state, "sensor.pt")


if __name__ == "__main__":
    main()
