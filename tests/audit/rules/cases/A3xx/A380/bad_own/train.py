from torch.utils.data import Subset

from sets import Pictures, plain, strong


class Scenes:
    def setup(self, order, cut):
        self.full = Pictures("scenes", augmentations=strong)
        self.train, self.val = Subset(self.full, order[:cut]), Subset(self.full, order[cut:])
        self.val.dataset.augmentations = plain
