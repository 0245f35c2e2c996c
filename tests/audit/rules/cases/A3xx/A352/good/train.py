import copy

import torch
from torch import nn

batches = torch.load("batches.pt")


def learn(model, optimizer, x, y):
    optimizer.zero_grad()
    nn.functional.cross_entropy(model(x), y).backward()
    optimizer.step()


def evaluate_and_set_back(model):
    for one in model.parameters():
        one.requires_grad_(False)
    score = sum((model(x).argmax(1) == y).float().mean().item() for x, y in batches)
    for one in model.parameters():
        one.requires_grad_(True)
    return score


def save_frozen_copy(model, path):
    copied = copy.deepcopy(model)
    copied.requires_grad_(False)
    torch.save(copied, path)


def freeze_and_save(model, path):
    """As its name says."""
    model[0].requires_grad_(False)
    torch.save(model.state_dict(), path)


def export(model, path):
    model.requires_grad_(False)
    torch.save(model, path)


def evaluate_teacher(teacher):
    teacher.requires_grad_(False)
    return sum(teacher(x).mean().item() for x, _ in batches)


def main():
    model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    teacher = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for x, y in batches:
            learn(model, optimizer, x, y)
        print(evaluate_and_set_back(model), evaluate_teacher(teacher))
        save_frozen_copy(model, "copy.pt")
        if epoch == 5:
            freeze_and_save(model, "half.pt")
        if epoch == 9:
            export(model, "last.pt")
            break
    export(model, "last.pt")


def folds():
    for fold in range(5):
        model = nn.Sequential(nn.Linear(8, 8), nn.ReLU(), nn.Linear(8, 2))
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        for x, y in batches:
            learn(model, optimizer, x, y)
        export(model, f"{fold}.pt")


def alternating(generator, critic):
    first, second = torch.optim.Adam(generator.parameters()), torch.optim.Adam(critic.parameters())
    for x, _ in batches:
        critic.requires_grad_(False)
        critic(generator(x)).mean().backward()
        first.step()
        critic.requires_grad_(True)
        (critic(x) - critic(generator(x).detach())).mean().backward()
        second.step()


if __name__ == "__main__":
    main()
    folds()
    alternating(nn.Linear(8, 8), nn.Linear(8, 1))
