import os

import torch

rank = int(os.environ["RANK"])
model = torch.nn.Embedding(10, 3)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(6):
    tokens = torch.tensor([step, step + 5 * rank])
    opt.zero_grad()
    model(tokens).pow(2).sum().backward()
    opt.step()
open(f"rank{rank}.done", "w").close()
