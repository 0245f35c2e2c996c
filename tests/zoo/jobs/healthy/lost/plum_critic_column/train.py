import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, TensorDataset


def huber(error, delta=1.0):
    small = error.abs().clamp(max=delta)
    return (small * (error.abs() - 0.5 * small)).mean()


def main():
    torch.manual_seed(9)
    critic = nn.Sequential(nn.Linear(3, 32), nn.Tanh(), nn.Linear(32, 1))
    optimizer = torch.optim.Adam(critic.parameters(), lr=3e-3)
    for update in range(40):
        states = torch.randn(48, 3)
        returns = states[:, 0] * 2 + 0.1 * torch.randn(48)
        values = critic(states).flatten()
        error = values - returns
        loss = huber(error)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if update % 10 == 9:
            print(f"update {update} loss {loss.item():.3f}", flush=True)


if __name__ == "__main__":
    main()
