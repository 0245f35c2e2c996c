import os

import torch

path = "cache/features.pt"
if os.path.exists(path):
    features = torch.load(path)
else:
    os.makedirs("cache", exist_ok=True)
    features = torch.arange(32.0).reshape(8, 4) / 32
    torch.save(features, path)
model = torch.nn.Linear(4, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(4):
    loss = model(features).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
print("4 steps done")
