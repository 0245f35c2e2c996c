import albumentations as A
from torch.utils.data import Dataset


def pipelines(size):
    return {
        "image": A.Compose([A.RandomCrop(size, size), A.HorizontalFlip(p=0.5), A.Normalize()]),
        "mask": A.Compose([A.RandomCrop(size, size), A.HorizontalFlip(p=0.5)]),
    }


class Roads(Dataset):
    def __init__(self, tiles, size):
        self.tiles, self.steps = tiles, pipelines(size)

    def __len__(self):
        return len(self.tiles)

    def __getitem__(self, index):
        tile = self.tiles[index]
        image = self.steps["image"](image=tile["image"])["image"]
        label = self.steps["mask"](image=tile["label"])["image"]
        return image, label
