"""Views of one image, images of two domains, samples that are mixed, and labels that are numbers."""

import random

import torch
from torch.utils.data import Dataset
from torchvision import transforms as T

LOOK = T.Compose([T.RandomResizedCrop(64), T.RandomHorizontalFlip(), T.ToTensor()])
WEAK = T.Compose([T.RandomCrop(64), T.ToTensor()])


class Views(Dataset):
    def __init__(self, images):
        self.images = images

    def __getitem__(self, index):
        image = self.images[index]
        query, key = LOOK(image), LOOK(image)
        target_view = WEAK(image)
        return query, key, target_view


class Domains(Dataset):
    def __init__(self, source, target):
        self.source, self.target = source, target

    def __getitem__(self, index):
        source = LOOK(self.source[index])
        target = LOOK(self.target[random.randrange(len(self.target))])
        return source, target


class Mixed(Dataset):
    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __getitem__(self, index):
        other = random.randrange(len(self.images))
        image = LOOK(self.images[index]) + LOOK(self.images[other])
        return image, torch.tensor(self.labels[index])


class Split(Dataset):
    def __init__(self, images, masks, of_masks):
        self.images, self.masks, self.of_masks = images, masks, of_masks

    def __getitem__(self, index):
        if self.of_masks:
            return WEAK(self.masks[index])
        else:
            return WEAK(self.images[index])
