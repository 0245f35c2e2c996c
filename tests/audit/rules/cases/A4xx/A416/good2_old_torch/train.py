"""An older PyTorch is asked for, whose default is another one."""
import argparse

import torch

args = argparse.ArgumentParser().parse_args()
torch.save({"args": args}, "last.pt")
torch.load("last.pt")
optimizer = torch.optim.SGD(torch.nn.Linear(3, 3).parameters(), lr=0.1)
