import collections


class History:
    def __init__(self):
        self.losses = []
        self.recent = collections.deque(maxlen=10)
        self.numbers = []

    def add(self, loss):
        self.losses.append(loss)

    def note(self, loss):
        self.recent.append(loss)

    def number(self, loss):
        self.numbers.append(loss.item())

    def reset(self):
        self.losses = []


def train(model, loader, criterion, optimizer):
    history = History()
    other = History()
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        history.add(loss.detach())
        history.note(loss)
        history.number(loss)
        other.add(loss)
        other.reset()
        fresh = History()
        fresh.add(loss)
    return history
