import torch
from accelerate import Accelerator
from torch.utils.data import DataLoader


def main():
    accelerator = Accelerator()
    net, loader = accelerator.prepare(torch.nn.Linear(8, 3), DataLoader(torch.load("test.pt"), batch_size=16))
    right = 0
    with torch.no_grad():
        for batch in loader:
            guess, truth = accelerator.gather_for_metrics((net(batch["x"]).argmax(-1), batch["y"]))
            right += (guess == truth).sum().item()
    accelerator.print(right)


if __name__ == "__main__":
    main()
