class Plan:
    def __init__(self, rows, rank, world):
        self.mine = rows[rank::world]

    @property
    def rounds(self):
        return len(self.mine)
