class Callback:
    def __init__(self, patience):
        self.best_score = None
        self.patience = patience
        self.num_bad = 0
        self.stop = False

    def __call__(self, score, model):
        if self.best_score is None or score >= self.best_score:
            self.best_score = score
            model.save()
            return
        self.num_bad += 1
        if self.num_bad == self.patience:
            self.stop = True
