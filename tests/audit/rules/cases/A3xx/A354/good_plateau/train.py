import torch

from net import Net, evaluate

net = Net()
optimizer = torch.optim.Adam(net.parameters())
up = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, mode="max")
down = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer)
for epoch in range(50):
    acc, top1, loss = evaluate(net)
    up.step(top1)
    down.step(loss)
    down.step(1 - acc)
    acc = 1 - acc
    down.step(acc)
