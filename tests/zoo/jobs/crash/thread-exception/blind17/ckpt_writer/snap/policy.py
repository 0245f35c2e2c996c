class KeepBest:
    """Names a snapshot after its score; without a validation the tag of the phase stands in."""

    def __init__(self, every):
        self.every = every

    def due(self, epoch):
        return epoch % self.every == self.every - 1

    def label(self, epoch, phase, score):
        return score if phase == "main" else phase
