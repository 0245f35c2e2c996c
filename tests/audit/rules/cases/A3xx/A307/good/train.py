import torch


def train(model, loader, optimizer):
    model = model.cuda()
    running = torch.zeros((), device="cuda")
    for step, (x, y) in enumerate(loader):
        loss = model(x.cuda(), y.cuda())
        loss.backward()
        optimizer.step()
        running += loss.detach()
        if step % 50 == 0:
            print(loss.item())


def evaluate(model, loader):
    total = 0
    for x in loader:
        total += model(x).item()
    return total
