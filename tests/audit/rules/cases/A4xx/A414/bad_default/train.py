import os


def prune(folder, keep=-1):
    names = sorted(os.listdir(folder))
    for name in names[: len(names) - keep]:
        os.remove(os.path.join(folder, name))
