import torch


def train(model, rows, optimizer):
    numbers = {name: number for number, name in enumerate(sorted({row["label"] for row in rows}))}
    for row in rows:
        torch.nn.functional.cross_entropy(model(row["wave"]), torch.tensor(numbers[row["label"]])).backward()
        optimizer.step()
    torch.save(model.state_dict(), "model.pt")
    model.load_state_dict(torch.load("model.pt"))
