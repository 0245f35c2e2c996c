class EarlyStopping:
    def __init__(self, patience):
        self.patience, self.best, self.bad = patience, float("inf"), 0
        self.best_state = None

    def update(self, value, model):
        if value < self.best:
            self.best, self.bad = value, 0
            self.best_state = model.state_dict()
        else:
            self.bad += 1
        return self.bad >= self.patience

    def restore(self, model):
        model.load_state_dict(self.best_state)
