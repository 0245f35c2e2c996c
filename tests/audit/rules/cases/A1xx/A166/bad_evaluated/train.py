import torch


class Sounds:
    def __init__(self, rows):
        self.rows = rows
        self.classes = {name: number for number, name in enumerate(set(row["label"] for row in rows))}

    def __getitem__(self, index):
        row = self.rows[index]
        return row["wave"], self.classes[row["label"]]


def train(model, loader, optimizer):
    for wave, label in loader:
        torch.nn.functional.cross_entropy(model(wave), label).backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt")


def evaluate(model, sounds):
    model.load_state_dict(torch.load("model.pt", weights_only=True))
    return [model(sounds[index][0]) for index in range(len(sounds.rows))]
