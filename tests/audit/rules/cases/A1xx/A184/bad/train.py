import torch


class Lines:
    def __init__(self, path):
        self.rows = open(path).read().splitlines()

    def __iter__(self):
        return iter(self.rows)


def endless(rows):
    while True:
        for row in rows:
            yield row


class Loader:
    def __init__(self, rows, size, batches):
        self.rows, self.size, self.batches = rows, size, batches

    def __iter__(self):
        stream = endless(self.rows)
        for _ in range(self.batches):
            yield [next(stream) for _ in range(self.size)]


def main(model, optimizer, epochs):
    loader = Loader(Lines("train.txt"), 32, 100)
    for epoch in range(epochs):
        for batch in loader:
            optimizer.zero_grad()
            model(batch).mean().backward()
            optimizer.step()
    torch.save(model.state_dict(), "model.pt")
