import hashlib
from pathlib import Path


def digest(config):
    return hashlib.sha256(Path(config["archive"]).read_bytes()).hexdigest()


def check(config):
    if digest(config) != config["sha256"]:
        raise ValueError(config["archive"])
    return config["name"]
