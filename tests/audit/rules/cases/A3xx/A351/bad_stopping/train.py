import shutil

import torch


class Stopping:
    def __init__(self, patience, delta, path):
        self.patience, self.delta, self.path = patience, delta, path
        self.reference, self.counter, self.stop = None, 0, False

    def __call__(self, loss, model):
        score = -loss
        if self.reference is None:
            self.reference = score
            self.save_checkpoint(model)
        elif score < self.reference + self.delta:
            self.counter += 1
            self.stop = self.counter >= self.patience
        else:
            self.save_checkpoint(model)
            self.counter = 0
        self.reference = score

    def save_checkpoint(self, model):
        torch.save(model.state_dict(), self.path)


def save(state, better, path):
    torch.save(state, path)
    if better:
        shutil.copyfile(path, "model_best.pt")


def by_flag(model, train_one_epoch, validate, epochs):
    progress = {"accuracy": 0.0}
    for epoch in range(epochs):
        train_one_epoch(model)
        accuracy = validate(model)
        better = accuracy > progress["accuracy"]
        progress["accuracy"] = accuracy
        save({"epoch": epoch, "model": model.state_dict()}, better, "last.pt")
