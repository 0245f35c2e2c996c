class History:
    def __init__(self):
        self.losses = []

    def add(self, loss):
        self.losses.append(loss)


def train(model, loader, criterion, optimizer):
    history = History()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.add(loss)
    return history
