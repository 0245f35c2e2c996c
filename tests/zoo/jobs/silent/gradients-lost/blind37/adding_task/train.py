"""The adding problem: two marked numbers in a sequence, their sum at its end."""
import argparse

import torch
import torch.nn as nn

torch.set_num_threads(1)


def batch(n, length, generator):
    values = torch.rand(n, length, generator=generator)
    marks = torch.zeros(n, length)
    first = torch.randint(0, length // 2, (n,), generator=generator)
    second = torch.randint(length // 2, length, (n,), generator=generator)
    rows = torch.arange(n)
    marks[rows, first] = 1
    marks[rows, second] = 1
    return torch.stack([values, marks], -1), (values * marks).sum(1, keepdim=True)


class RecurrentAdder(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(2, hidden)
        self.out = nn.Linear(hidden, 1)

    def repackage(self, state):
        return state.detach()

    def forward(self, x):
        state = x.new_zeros(x.size(0), self.hidden)
        for t in range(x.size(1)):
            state = self.cell(x[:, t], self.repackage(state))
        return self.out(state)


@torch.no_grad()
def test_error(model, length, seed=123):
    model.eval()
    x, y = batch(512, length, torch.Generator().manual_seed(seed))
    return nn.functional.mse_loss(model(x), y).item()


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--length", type=int, default=50)
    p.add_argument("--steps", type=int, default=400)
    p.add_argument("--batch", type=int, default=64)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--clip", type=float, default=1.0)
    args = p.parse_args()
    torch.manual_seed(2)
    g = torch.Generator().manual_seed(2)
    model = RecurrentAdder()
    opt = torch.optim.Adam(model.parameters(), lr=args.lr)
    average = None
    for step in range(1, args.steps + 1):
        model.train()
        x, y = batch(args.batch, args.length, g)
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), args.clip)
        opt.step()
        average = loss.item() if average is None else 0.98 * average + 0.02 * loss.item()
        if step % 80 == 0:
            print(f"step {step} mse {average:.4f} test {test_error(model, args.length):.4f}", flush=True)
    print("baseline (always 1.0):", round(1 / 6, 4))


if __name__ == "__main__":
    main()
