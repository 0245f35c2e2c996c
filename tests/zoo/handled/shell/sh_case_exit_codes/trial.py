import os
import signal
import sys

import torch

seed = int(sys.argv[1])
torch.manual_seed(seed)
weight = torch.nn.Parameter(torch.randn(4))
opt = torch.optim.SGD([weight], lr=40.0 if seed == 2 else 0.1)
for step in range(10):
    loss = weight.pow(2).sum()
    if loss > 1e8:
        sys.exit(3)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if seed == 3 and step == 5:
        os.kill(os.getpid(), signal.SIGSEGV)
