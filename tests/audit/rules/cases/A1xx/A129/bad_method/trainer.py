import torch
from accelerate import Accelerator, skip_first_batches
from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, rows):
        self.accelerator = Accelerator()
        self.net = torch.nn.Linear(8, 2)
        self.optimizer = torch.optim.AdamW(self.net.parameters())
        self.loader = self.accelerator.prepare(DataLoader(rows, 32, shuffle=True))
        self.step = 0

    def resume(self, path):
        self.accelerator.load_state(path)
        self.step = torch.load(path + "/step.pt")
        self.loader = skip_first_batches(self.loader, self.step % len(self.loader))

    def epoch(self):
        for x in self.loader:
            self.optimizer.zero_grad()
            self.accelerator.backward(self.net(x).mean())
            self.optimizer.step()
            self.step += 1

    def fit(self, epochs, path):
        if path:
            self.resume(path)
        for _ in range(epochs):
            self.epoch()
            self.accelerator.save_state("last")


if __name__ == "__main__":
    import sys

    Trainer(torch.load("rows.pt")).fit(10, sys.argv[1] if len(sys.argv) > 1 else "")
