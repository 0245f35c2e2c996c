import torch


def train_epoch(model, steps):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(steps):
        optimizer.zero_grad()
        model(torch.randn(4, 2000)).square().mean().backward()
        optimizer.step()


def evaluate_best(manager):
    state = manager.load_latest()
    model = torch.nn.Linear(2000, 10)
    model.load_state_dict(state["model"])
    with torch.no_grad():
        return model(torch.ones(1, 2000)).mean().item()
