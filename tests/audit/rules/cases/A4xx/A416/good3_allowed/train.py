"""The class is allowed."""
import argparse

import torch

torch.serialization.add_safe_globals([argparse.Namespace])
args = argparse.ArgumentParser().parse_args()
torch.save({"args": args}, "last.pt")
torch.load("last.pt")
optimizer = torch.optim.SGD(torch.nn.Linear(3, 3).parameters(), lr=0.1)
