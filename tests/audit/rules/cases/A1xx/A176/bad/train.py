import torch
from torch.utils.data import DataLoader, random_split
from torchvision import datasets, transforms

augmented = datasets.ImageFolder("data", transform=transforms.RandomHorizontalFlip())
plain = datasets.ImageFolder("data", transform=transforms.ToTensor())
sizes = [int(0.9 * len(plain)), len(plain) - int(0.9 * len(plain))]
torch.manual_seed(0)
train_set = random_split(augmented, sizes)[0]
val_set = random_split(plain, sizes)[1]
train_loader = DataLoader(train_set, 32, shuffle=True)
val_loader = DataLoader(val_set, 32)
