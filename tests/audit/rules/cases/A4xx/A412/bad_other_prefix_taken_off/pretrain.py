import torch

from nets import Encoder


class Run:
    def __init__(self, path):
        self.path = path
        self.net = torch.compile(Encoder())

    def go(self, batches):
        optimizer = torch.optim.AdamW(self.net.parameters())
        for batch in batches:
            self.net(batch).mean().backward()
            optimizer.step()
            optimizer.zero_grad()
        torch.save({"weights": self.net.state_dict(), "batches": len(batches)}, self.path)


if __name__ == "__main__":
    Run("encoder.pt").go(torch.load("batches.pt"))
