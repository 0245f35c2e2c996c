import hashlib
import json
import os
import pickle


def cache_name(settings):
    text = f"{settings['corpus']}-{settings['length']}-{settings['lowercase']}"
    return hashlib.md5(text.encode()).hexdigest()


def cut(line, settings):
    words = line.lower().split() if settings["lowercase"] else line.split()
    return words[: settings["length"]]


def samples(settings):
    path = os.path.join(settings["cache_dir"], cache_name(settings))
    if os.path.exists(path):
        with open(path, "rb") as held:
            return pickle.load(held)
    if settings["verbose"]:
        print(f"with {settings['num_workers']} workers")
    with open(settings["corpus"]) as lines:
        found = [cut(line, settings) for line in lines]
    with open(path, "wb") as held:
        pickle.dump(found, held)
    return found
