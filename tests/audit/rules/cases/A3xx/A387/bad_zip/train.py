from glob import glob

import pandas as pd
from PIL import Image


def render(n):
    for k in range(n):
        Image.new("L", (32, 32)).save(f"pictures/img{k}.png")


def load():
    names = sorted(glob("pictures/*.png"))
    labels = pd.read_csv("labels.csv")["label"].tolist()
    return [(Image.open(name), label) for name, label in zip(names, labels)]
