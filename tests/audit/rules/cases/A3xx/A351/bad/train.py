import torch


class KeepBest:
    def __init__(self, path, mode="min"):
        self.path, self.mode = path, mode
        self.to_beat = None

    def beats(self, value):
        if self.to_beat is None:
            return True
        return value < self.to_beat if self.mode == "min" else value > self.to_beat

    def after_epoch(self, model, metrics):
        value = metrics["val_loss"]
        if self.beats(value):
            torch.save(model.state_dict(), self.path)
        self.to_beat = value
