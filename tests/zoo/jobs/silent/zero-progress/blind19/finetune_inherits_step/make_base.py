"""Fetches the base model (here: makes the one that was published with the paper)."""
import os

import torch
import torch.nn as nn

torch.manual_seed(0)
os.makedirs("ckpt", exist_ok=True)
model = nn.Sequential(nn.Linear(32, 256), nn.GELU(), nn.Linear(256, 256), nn.GELU(), nn.Linear(256, 2))
torch.save({"model": model.state_dict(), "step": 120_000}, "ckpt/base.pt")
