import os


def prepare(out):
    if not os.path.exists(out):
        os.makedirs(out)
