class EarlyStopping:
    def __init__(self, patience=3):
        self.patience = patience
        self.best = float("inf")
        self.waited = 0
        self.worse = 0

    def should_stop(self, loss):
        if loss < self.best:
            self.best = loss
            self.waited = 0
        else:
            self.waited += 1
            self.worse += 1  # only printed
        print(self.worse)
        return self.waited >= self.patience


class Reset:
    def __init__(self, patience):
        self.best, self.patience, self.waited = 0.0, patience, 0

    def reset(self):
        self.waited = 0

    def should_stop(self, score):
        if score > self.best:
            self.best = score
            self.reset()
        else:
            self.waited += 1
        return self.waited > self.patience


def train(epochs, patience, evaluate):
    best, bad = 0.0, 0
    for epoch in range(epochs):
        score = evaluate(epoch)
        if score > best:
            best, bad = score, 0
        else:
            bad += 1
        if bad >= patience:
            break


def count(scores, wanted):
    """How many of some scores lie below the best: nothing ends by it."""
    best, below = 0.0, 0
    for score in scores:
        if score > best:
            best = score
        else:
            below += 1
    return best, below


def search(folds, patience, evaluate):
    for fold in folds:
        best, bad = 0.0, 0
        for epoch in range(100):
            score = evaluate(fold, epoch)
            if score > best:
                best = score
                bad = 0
                continue
            bad += 1
            if bad > patience:
                break


class Pieces:
    """What it doubles is no best value, and what it counts no evaluation of a model."""

    def __init__(self, most, patience):
        self.pieces, self.most, self.patience = 1, most, patience
        self.skips = 0

    def skipped(self):
        if self.pieces < self.most:
            self.pieces = min(2 * self.pieces, self.most)
        else:
            self.skips += 1
        if self.skips > self.patience:
            raise RuntimeError("a batch of one does not fit")
