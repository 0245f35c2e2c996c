import torch
from huggingface_hub import hf_hub_download


def fetch(repo, name="model.pth"):
    return hf_hub_download(repo_id=repo, filename=name)


def load(repo):
    path = fetch(repo)
    return torch.load(path, map_location="cpu", weights_only=False)
