class Accumulation:
    def __init__(self, every):
        self.every = every
        self.step = 0

    @property
    def syncs(self):
        return (self.step + 1) % self.every == 0

    @property
    def updates(self):
        return self.step % self.every == 0
