import lightning as L


class StopOnPlateau(L.Callback):
    """Ends training when the loss of an epoch has not become better for some epochs."""

    def __init__(self, patience, margin=0.02):
        self.patience, self.margin = patience, margin
        self.best, self.bad = float("inf"), 0
        self.losses = []

    def on_train_batch_end(self, trainer, module, outputs, batch, index):
        self.losses.append(outputs["loss"].item())

    def on_train_epoch_end(self, trainer, module):
        mean = sum(self.losses) / len(self.losses)
        self.losses.clear()
        if mean < self.best * (1 - self.margin):
            self.best, self.bad = mean, 0
        else:
            self.bad += 1
        if self.bad >= self.patience:
            trainer.should_stop = True
