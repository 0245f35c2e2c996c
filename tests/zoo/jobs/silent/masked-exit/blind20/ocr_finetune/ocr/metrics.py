class CharacterErrorRate:
    def __init__(self):
        self.errors, self.characters = 0, 0

    def update(self, predicted, target):
        valid = target != -100
        self.errors += int((predicted[valid] != target[valid]).sum())
        self.characters += int(valid.sum())

    def value(self):
        return self.errors / self.characters
