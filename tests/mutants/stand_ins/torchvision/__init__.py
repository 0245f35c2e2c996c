"""A stand-in for torchvision: made-up pictures and small models, so that nothing is downloaded or compiled."""

from . import datasets, models, transforms, utils

__all__ = ["datasets", "models", "transforms", "utils"]
