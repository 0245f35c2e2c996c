import sys

import torch

state = torch.load(sys.argv[1])
assert state["epoch"] == 6, state["epoch"]
print(f"trained {state['epoch']} epochs, loss {state['loss']:.4f}")
