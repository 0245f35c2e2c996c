import os


def name():
    return "out"


def prepare_by_hand():
    os.makedirs(name())
