import sys

import torch

model = torch.nn.Linear(6, 1)
model.load_state_dict(torch.load(sys.argv[1]))
print("parameters:", sum(p.numel() for p in model.parameters()))
