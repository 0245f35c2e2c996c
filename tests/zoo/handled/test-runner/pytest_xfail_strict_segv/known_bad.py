import ctypes

import torch

model = torch.nn.Linear(4, 4)
opt = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(3):
    loss = model(torch.ones(2, 4)).sum()
    opt.zero_grad()
    loss.backward()
    if step == 1:
        ctypes.memmove(0, model.weight.data_ptr(), 64)
    opt.step()
