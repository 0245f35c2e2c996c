import copy

import numpy as np
import torch


class KeepBest:
    def __init__(self, path):
        self.path = path
        self.to_beat = None

    def beats(self, value):
        return self.to_beat is None or value < self.to_beat

    def after_epoch(self, model, metrics):
        value = metrics["val_loss"]
        if self.beats(value):
            torch.save(model.state_dict(), self.path)
            self.to_beat = value


def left_early(model, train_one_epoch, validate, epochs):
    best = 0.0
    for epoch in range(epochs):
        train_one_epoch(model)
        accuracy = validate(model)
        if accuracy <= best:
            continue
        torch.save(model.state_dict(), "best.pt")
        best = accuracy


def by_max(model, train_one_epoch, validate, epochs):
    best = 0.0
    for epoch in range(epochs):
        train_one_epoch(model)
        accuracy = validate(model)
        is_best = accuracy > best
        best = max(accuracy, best)
        if is_best:
            torch.save(model.state_dict(), "best.pt")


def halved_where_it_rises(model, optimizer, train_one_epoch, validate, epochs):
    """The rate follows the last loss, and nothing is kept as the best."""
    last = float("inf")
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss > last:
            for group in optimizer.param_groups:
                group["lr"] *= 0.5
        last = loss


def rises_in_a_row(model, train_one_epoch, validate, epochs, patience):
    """Stops after so many rises in a row, as its words say."""
    last, rises = float("inf"), 0
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss > last:
            rises += 1
            if rises >= patience:
                return model
        else:
            rises = 0
        last = loss
    return model


def one_file_an_epoch(model, train_one_epoch, validate, epochs):
    last = float("inf")
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss < last:
            torch.save(model.state_dict(), f"epoch_{epoch}.pt")
        last = loss


def taken_back_where_it_got_worse(model, train_one_epoch, validate, epochs):
    last, kept = float("inf"), copy.deepcopy(model.state_dict())
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss < last:
            kept = copy.deepcopy(model.state_dict())
        else:
            model.load_state_dict(kept)
            loss = last
        last = loss


def best_of_all_seen(model, train_one_epoch, validate, epochs):
    seen, last = [], 0.0
    for epoch in range(epochs):
        train_one_epoch(model)
        seen.append(validate(model))
        top = max(seen)
        if top > last:
            torch.save(model.state_dict(), "best.pt")
        last = top


def newest_of_a_training(model, train_one_epoch, validate, epochs):
    last = float("inf")
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss < last + 1.0:
            torch.save(model.state_dict(), "last.pt")
        last = loss


def seen_before(values):
    previous, rises = np.inf, 0
    for value in values:
        if np.less(previous, value):
            rises += 1
        previous = value
    return rises


def saved_unless_it_diverged(model, train_one_epoch, validate, epochs):
    last = float("inf")
    for epoch in range(epochs):
        train_one_epoch(model)
        loss = validate(model)
        if loss < 2 * last:
            torch.save(model.state_dict(), "model.pt")
        last = loss


def saved_unless_it_fell_far(model, train_one_epoch, validate, epochs, slack):
    before = 0.0
    for epoch in range(epochs):
        train_one_epoch(model)
        accuracy = validate(model)
        if accuracy > before - slack:
            torch.save(model.state_dict(), "model.pt")
        before = accuracy


class OneFileEach:
    def __init__(self, folder):
        self.folder, self.count, self.last = folder, 0, None

    def write(self, model):
        self.count += 1
        torch.save(model.state_dict(), f"{self.folder}/{self.count}.pt")

    def save_model(self, model):
        self.write(model)
        torch.save(model.state_dict(), f"{self.folder}/epoch_{self.count}.pt")

    def after_epoch(self, model, loss):
        if self.last is None or loss < self.last:
            self.save_model(model)
        self.last = loss
