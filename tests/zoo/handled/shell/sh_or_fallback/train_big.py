import torch
from torch import nn

LIMIT = 2 ** 22

width = 4096
torch.manual_seed(0)
need = 3 * width * width
if need > LIMIT:
    raise MemoryError(f"{need} parameters and moments asked for, room for {LIMIT}")
model = nn.Linear(width, width)
