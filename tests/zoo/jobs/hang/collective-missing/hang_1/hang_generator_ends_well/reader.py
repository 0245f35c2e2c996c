import torch


class Vocabulary:
    def __init__(self):
        self.index = {}
        for word in "the a cat dog sits runs on under mat tree and then it she he sleeps".split():
            self.index[word] = len(self.index)

    def __len__(self):
        return len(self.index)

    def encode(self, line):
        return torch.tensor([self.index[word] for word in line.split()])


def examples(path, vocabulary):
    with open(path) as file:
        for line in file:
            yield vocabulary.encode(line.strip() or " ".join(["it"] * 9))
