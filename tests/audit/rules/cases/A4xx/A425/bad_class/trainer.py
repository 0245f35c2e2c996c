import torch


class Trainer:
    def __init__(self, model, optimizer):
        self.model, self.optimizer = model, optimizer
        self.min_val_loss = float("inf")
        self.step = 0

    def save(self, path):
        torch.save(
            {"step": self.step, "weights": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}, path
        )

    def load(self, path):
        state = torch.load(path, weights_only=True)
        self.model.load_state_dict(state["weights"])
        self.optimizer.load_state_dict(state["optimizer"])
        self.step = state["step"]

    def validated(self, loss):
        if loss < self.min_val_loss:
            self.min_val_loss = loss
            self.save("lowest.pt")
