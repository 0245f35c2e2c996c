"""The schedule is made before the state of its optimizer comes back."""
import torch


def build(model, epoch):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 30, 0.1, epoch)
    return optimizer, scheduler


def main(model, loader, path):
    start_epoch, state = 0, None
    if path:
        state = torch.load(path, weights_only=True)
        start_epoch = state["epoch"] + 1
    optimizer, scheduler = build(model, start_epoch - 1)
    if state is not None:
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
    for _epoch in range(start_epoch, 90):
        for x, y in loader:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
        scheduler.step()


main(torch.nn.Linear(3, 3), [], "last.pt")
