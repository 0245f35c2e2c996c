import hashlib
import os
import pickle


def cache_name(settings):
    text = f"{settings['corpus']}-{settings['length']}"
    return hashlib.md5(text.encode()).hexdigest()


def cut(line, settings):
    words = line.lower().split() if settings["lowercase"] else line.split()
    return words[: settings["length"]]


def samples(settings):
    path = os.path.join("cache", cache_name(settings))
    if os.path.exists(path):
        with open(path, "rb") as held:
            return pickle.load(held)
    with open(settings["corpus"]) as lines:
        found = [cut(line, settings) for line in lines]
    with open(path, "wb") as held:
        pickle.dump(found, held)
    return found
