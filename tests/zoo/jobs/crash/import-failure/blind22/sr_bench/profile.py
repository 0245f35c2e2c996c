"""Image profiles: the grey values along a line, for the figures of the paper."""
import torch


def row_profile(image, row):
    return image[..., row, :].mean(dim=-2)


def sharpness(image):
    return (image[..., 1:] - image[..., :-1]).abs().mean(dim=(-1, -2))
