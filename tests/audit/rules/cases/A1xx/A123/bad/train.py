class EarlyStopping:
    def __init__(self, patience=3):
        self.patience = patience
        self.best = float("inf")
        self.waited = 0

    def should_stop(self, loss):
        if loss < self.best:
            self.best = loss
        else:
            self.waited += 1
        return self.waited >= self.patience
