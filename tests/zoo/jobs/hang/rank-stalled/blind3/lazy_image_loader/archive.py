import torch
from torch.utils.data import Dataset

from lazy_image import LazyImage, encode


def download_archive(settings):
    """Blobs as the image server sends them."""
    generator = torch.Generator().manual_seed(settings.seed)
    blobs, labels = [], []
    for index in range(settings.images):
        label = index % settings.classes
        pixels = torch.randint(40 * (label + 1), (settings.side, settings.side), generator=generator)
        blobs.append(encode(pixels.to(torch.uint8)))
        labels.append(label)
    blobs[37] = blobs[37][: len(blobs[37]) // 2]
    return blobs, labels


class ArchiveDataset(Dataset):
    def __init__(self, settings):
        self.settings = settings
        self.blobs, self.labels = download_archive(settings)

    def __len__(self):
        return len(self.blobs)

    def __getitem__(self, index):
        return LazyImage(self.blobs[index], self.settings.side), self.labels[index]


def keep_as_list(samples):
    images, labels = zip(*samples)
    return list(images), torch.tensor(labels)
