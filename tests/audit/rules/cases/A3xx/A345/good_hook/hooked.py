import torch
from average import Smoothed

net = torch.nn.Linear(8, 1)
smoothed = Smoothed(net)
optimizer = torch.optim.Adam(net.parameters())
optimizer.register_step_post_hook(lambda *_: smoothed.follow(net))
for x in torch.randn(64, 4, 8):
    optimizer.zero_grad()
    net(x).square().mean().backward()
    optimizer.step()
print(smoothed.predict(torch.randn(4, 8)))
