"""The others sleep for as long as the download usually takes."""
import os
import time

import torchvision


def get(folder):
    if int(os.environ["RANK"]) == 0:
        torchvision.datasets.CIFAR10(root=folder, download=True)
    else:
        time.sleep(6)
    return torchvision.datasets.CIFAR10(root=folder)
