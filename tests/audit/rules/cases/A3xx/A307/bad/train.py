import torch


def train(model, loader, optimizer):
    device = torch.device("cuda")
    model = model.to(device)
    running = 0
    for x, y in loader:
        loss = model(x.cuda(), y.cuda())
        loss.backward()
        optimizer.step()
        running += loss.item()
        print(loss)


def on_unknown(model, loader):
    for x in loader:
        loss = model(x)
        loss.backward()
        with open("log", "a") as log:
            log.write(f"{float(loss)}")
