import torch


class Links:
    def __init__(self, matrix):
        both = torch.maximum(matrix, matrix.T)
        self.links = torch.nonzero(both).t()

    def split(self, share):
        count = self.links.size(1)
        shuffled = torch.randperm(count)
        held = int(share * count)
        self.test_links = self.links[:, shuffled[:held]]
        self.train_links = self.links[:, shuffled[held:]]
