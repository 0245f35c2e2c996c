import lib
import torch
from torch.utils.tensorboard import SummaryWriter


def main():
    writer = SummaryWriter("runs/one")
    lib.learner(torch.ones(1, requires_grad=True).sum())
    writer.close()


if __name__ == "__main__":
    main()
