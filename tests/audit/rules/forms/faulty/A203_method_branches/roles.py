class Role:
    def __init__(self, rank):
        self.root = rank == 0
