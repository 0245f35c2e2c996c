import torch
from huggingface_hub import hf_hub_download


def fetch(repo):
    return hf_hub_download(repo, "model.pth")


def load(repo):
    path = fetch(repo)
    return torch.load(path, map_location="cpu", weights_only=True)
