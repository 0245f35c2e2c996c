import copy
import sys

import torch
from torch import nn

double = "--double" in sys.argv
net = nn.Linear(4, 2)
target = copy.deepcopy(net) if double else net
if double:
    slow = copy.deepcopy(net)
else:
    slow = net
optimizer = torch.optim.Adam(net.parameters())
for step in range(100):
    loss = (net(torch.ones(2, 4)) - target(torch.ones(2, 4)).detach() - slow(torch.ones(2, 4)).detach()).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    target.load_state_dict(net.state_dict())
    slow.load_state_dict(net.state_dict())
