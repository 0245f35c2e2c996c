import argparse

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--classes", type=int, default=4)
parser.add_argument("--outputs", type=int, default=4)
options = parser.parse_args()
torch.set_num_threads(1)
torch.manual_seed(0)
layer = torch.nn.Linear(10, options.outputs)
optimizer = torch.optim.Adam(layer.parameters())
for step in range(10):
    labels = torch.arange(16) % (2 + min(step, options.classes - 2))
    loss = torch.nn.functional.cross_entropy(layer(torch.randn(16, 10)), labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
print(f"final loss={loss.item():.4f}")
