import torch
from huggingface_hub import hf_hub_download


def fetch(repo):
    path = hf_hub_download(repo, "model.bin")
    return torch.load(path, map_location="cpu", weights_only=False)


def old(repo):
    return torch.load(hf_hub_download(repo, "model.bin"), map_location="cpu")


def local(path):
    return torch.load(path, map_location="cpu", weights_only=False)
