import sys

import torch

torch.set_num_threads(1)
model = torch.nn.Linear(32, 8)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
model(torch.ones(int(sys.argv[1]), 32)).mean().backward()
opt.step()
