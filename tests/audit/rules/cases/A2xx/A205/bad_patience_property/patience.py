class Patience:
    def __init__(self):
        self.best, self.bad = float("-inf"), 0

    def after(self, value):
        if value > self.best:
            self.best, self.bad = value, 0
        else:
            self.bad += 1

    @property
    def exhausted(self):
        return self.bad >= 4
