import os


class Cache:
    def __init__(self, budget):
        self.budget = budget

    def read(self, index):
        if index > self.budget:
            os._exit(3)
        return index
