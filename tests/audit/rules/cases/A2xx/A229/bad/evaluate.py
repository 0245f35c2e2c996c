import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def main():
    accelerator = Accelerator()
    net = torch.nn.Linear(8, 3)
    loader = DataLoader(torch.load("test.pt"), batch_size=16)
    net, loader = accelerator.prepare(net, loader)
    right, seen = 0, 0
    net.eval()
    with torch.no_grad():
        for batch in loader:
            guess = net(batch["x"]).argmax(dim=-1)
            guess, truth = accelerator.gather((guess, batch["y"]))
            right += (guess == truth).sum().item()
            seen += len(truth)
    accelerator.print(right / seen)


if __name__ == "__main__":
    main()
