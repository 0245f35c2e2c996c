class GradualWarmup:
    def __init__(self, optimizer, length, after):
        self.optimizer, self.length, self.after = optimizer, length, after
