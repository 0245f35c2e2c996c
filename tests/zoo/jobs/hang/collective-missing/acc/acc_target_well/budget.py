class Budget:
    """Training is over when the smoothed loss is below the target."""

    def __init__(self, target, smoothing, least=30):
        self.target, self.smoothing, self.least = target, smoothing, least
        self.mean = None
        self.done = False

    def spent(self, loss, steps):
        self.mean = loss if self.mean is None else self.smoothing * self.mean + (1 - self.smoothing) * loss
        if steps >= self.least and self.mean < self.target:
            self.done = True
        return self.done
