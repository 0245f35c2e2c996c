import json


class History:
    def __init__(self, folder):
        self.path = f"{folder}/history.json"
        self.rows = []

    def add(self, row):
        self.rows.append(row)
        with open(self.path, "w") as out:
            json.dump(self.rows, out)


def main(model, optimizer, loader, folder):
    history = History(folder)
    for step, batch in enumerate(loader):
        loss = model(batch)
        loss.backward()
        optimizer.step()
        history.add({"step": step, "loss": loss.item()})
