import random

import albumentations as A
import torch
import torchvision.transforms.functional as F
from torch.utils.data import Dataset
from torchvision import transforms as T
from torchvision.transforms import v2


class Joint(Dataset):
    def __init__(self, rows):
        self.rows = rows
        self.both = v2.Compose([v2.RandomHorizontalFlip(), v2.RandomCrop(64)])
        self.colours = T.Compose([T.ColorJitter(0.2), T.GaussianBlur(3)])
        self.resize = T.Compose([T.Resize(64), T.CenterCrop(64)])

    def __getitem__(self, index):
        image, mask = self.rows[index]
        image, mask = self.resize(image), self.resize(mask)
        image, mask = self.both(image, mask)
        return self.colours(image), mask


class Named(Dataset):
    def __init__(self, rows):
        self.rows, self.steps = rows, A.Compose([A.RandomCrop(64, 64), A.HorizontalFlip()])

    def __getitem__(self, index):
        image, mask = self.rows[index]
        done = self.steps(image=image, mask=mask)
        return done["image"], done["mask"]


class SeededAgain(Dataset):
    def __init__(self, rows):
        self.rows, self.steps = rows, T.Compose([T.RandomCrop(64), T.RandomVerticalFlip()])

    def __getitem__(self, index):
        image, mask = self.rows[index]
        seed = random.getrandbits(32)
        torch.manual_seed(seed)
        image = self.steps(image)
        torch.manual_seed(seed)
        return image, self.steps(mask)


class ByHand(Dataset):
    def __init__(self, rows):
        self.rows = rows

    def __getitem__(self, index):
        image, mask = self.rows[index]
        i, j, h, w = T.RandomCrop.get_params(image, (64, 64))
        image, mask = F.crop(image, i, j, h, w), F.crop(mask, i, j, h, w)
        if random.random() < 0.5:
            image, mask = F.hflip(image), F.hflip(mask)
        return image, mask


class OnlyOnePipelineDraws(Dataset):
    def __init__(self, rows, train):
        self.rows = rows
        self.look, self.read = views(train)

    def __getitem__(self, index):
        image, mask = self.rows[index]
        return self.look(image), self.read(mask)


def views(train):
    if train:
        return T.Compose([T.ColorJitter(), T.ToTensor()]), T.Compose([T.ToTensor()])
    return T.Compose([T.ToTensor()]), T.Compose([T.PILToTensor()])


class Stacked(Dataset):
    def __init__(self, rows):
        self.rows, self.steps = rows, T.RandomAffine(20)

    def __getitem__(self, index):
        image, mask = self.rows[index]
        both = self.steps(torch.cat([image, mask]))
        return both[:3], both[3:]


class Certain(Dataset):
    def __init__(self, rows):
        self.rows, self.steps = rows, T.RandomHorizontalFlip(p=1.0)

    def __getitem__(self, index):
        image, mask = self.rows[index]
        return self.steps(image), self.steps(mask)
