class Callback:
    stop = False

    def on_epoch_end(self, epoch, train_loss, val_loss):
        pass


class History(Callback):
    def __init__(self):
        self.rows = []

    def on_epoch_end(self, epoch, train_loss, val_loss):
        self.rows.append((epoch, train_loss, val_loss))


class EarlyStopping(Callback):
    def __init__(self, patience, min_delta=1e-4):
        self.patience, self.min_delta = patience, min_delta
        self.best, self.bad = float("inf"), 0

    def on_epoch_end(self, epoch, train_loss, val_loss):
        if val_loss < self.best - self.min_delta:
            self.best, self.bad = val_loss, 0
            return
        self.bad += 1
        if self.bad >= self.patience:
            self.stop = True
