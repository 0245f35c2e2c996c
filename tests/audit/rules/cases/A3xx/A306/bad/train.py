def train(model, loader, criterion, optimizer):
    losses = []
    total = 0.0
    for x, y in loader:
        loss = criterion(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss)
        total += loss
    return total / len(losses)


class Trainer:
    def __init__(self):
        self.history = []

    def fit(self, model, loader, scaler):
        running = 0
        for x in loader:
            loss = model(x)
            scaler.scale(loss / 4).backward()
            self.history.append(loss.mean().cpu())
            running = running + loss
            if x.step % 100 == 0:
                print(running)
                running = 0
