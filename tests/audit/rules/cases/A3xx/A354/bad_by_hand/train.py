import torch

from net import Net, evaluate, train_epoch

net = Net()
best_acc = 1.0
for epoch in range(50):
    train_epoch(net)
    acc = evaluate(net)
    if acc < best_acc:
        best_acc = acc
        torch.save(net.state_dict(), "best.pt")
