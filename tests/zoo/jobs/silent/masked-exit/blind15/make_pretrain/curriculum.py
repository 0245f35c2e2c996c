class LengthCurriculum:
    def __init__(self, start, stop, every):
        self.start, self.stop, self.every = start, stop, every

    def length(self, step):
        return min(self.stop, self.start + 8 * (step // self.every))
