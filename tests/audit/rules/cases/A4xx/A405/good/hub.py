import torch
from huggingface_hub import hf_hub_download
from safetensors.torch import load_file


def fetch(repo, **options):
    path = hf_hub_download(repo, "model.bin")
    first = torch.load(path, map_location="cpu", weights_only=True)
    second = load_file(hf_hub_download(repo, "model.safetensors"))
    third = torch.load("ours.pt", map_location="cpu")
    return first, second, third
