import torch
from PIL import Image
from torch.utils.data import Dataset
from torchvision import transforms as T


class Lesions(Dataset):
    def __init__(self, rows, size=256, train=True):
        self.rows = rows
        steps = [T.Resize(size)]
        if train:
            steps.append(T.RandomRotation(20))
            steps += [T.RandomHorizontalFlip()]
        steps.append(T.ToTensor())
        self.augment = T.Compose(steps)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        path, mask_path = self.rows[index]
        image = self.augment(Image.open(path).convert("RGB"))
        mask = self.augment(Image.open(mask_path).convert("L"))
        return image, (mask > 0.5).float()


loader = torch.utils.data.DataLoader(Lesions([("a.png", "a_mask.png")]), 8)
