import torch
from torch.utils.data import random_split
from torchvision import datasets, transforms

augmented = datasets.ImageFolder("data", transform=transforms.RandomHorizontalFlip())
plain = datasets.ImageFolder("data", transform=transforms.ToTensor())
sizes = [900, 100]
train_set, _ = random_split(augmented, sizes, generator=torch.Generator().manual_seed(0))
_, val_set = random_split(plain, sizes, generator=torch.Generator().manual_seed(0))

torch.manual_seed(1)
train_again, _ = random_split(augmented, sizes)
torch.manual_seed(1)
_, val_again = random_split(plain, sizes)
