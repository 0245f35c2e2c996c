class Patience:
    def __init__(self, most):
        self.best, self.waited, self.most = None, 0, most

    def is_over(self, loss):
        if self.best is None or loss < self.best:
            self.best = loss
        else:
            self.waited += 1
        return self.waited >= self.most


def train(model, epochs, evaluate):
    patience = Patience(3)
    for epoch in range(epochs):
        model.train_one(epoch)
        if patience.is_over(evaluate(model)):
            break
