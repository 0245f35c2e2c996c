import torch

from net import Net, batches

model = Net().cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for batch in batches(0):
    model(batch).backward()
    optimizer.step()
