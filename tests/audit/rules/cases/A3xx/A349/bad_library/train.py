from torchvision import datasets, transforms

crop = transforms.RandomCrop(224)
look = transforms.Compose([crop, transforms.ColorJitter(), transforms.ToTensor()])
train = datasets.VOCSegmentation("data", transform=look, target_transform=transforms.Compose([crop]))
