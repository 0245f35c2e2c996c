import torch

from net import Net, evaluate, train_epoch

net = Net()
best_acc, best_loss, patience = 0.0, float("inf"), 0
for epoch in range(50):
    train_epoch(net)
    loss, acc = evaluate(net)
    if best_acc < acc:
        best_acc = acc
        torch.save(net.state_dict(), "best.pt")
    if loss > best_loss:
        patience += 1
    else:
        best_loss = loss
        torch.save(net.state_dict(), "least_loss.pt")

best_val_acc = 1e9
for epoch in range(50):
    val_acc = torch.nn.functional.cross_entropy_loss(net(epoch))
    if val_acc < best_val_acc:
        best_val_acc = val_acc
        torch.save(net.state_dict(), "misnamed.pt")
