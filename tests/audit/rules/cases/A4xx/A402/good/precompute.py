import io

import torch
from torch import nn


@torch.no_grad()
def encode_all(encoder, fields, out, device):
    for index, field in enumerate(fields):
        x = torch.from_numpy(field).to(device)
        latent = encoder(x).half().cpu()
        torch.save({"latent": latent, "index": index}, out / f"{index}.pt")


def encode(encoder, x, device, dtype):
    return encoder(torch.from_numpy(x).to(device)).to(dtype)


def write(path, latent, params):
    torch.save({"latent": latent, "params": params}, path)


def main(fields, out):
    device = torch.device("cuda")
    encoder = nn.Linear(4, 4).to(device).eval()
    encode_all(encoder, fields, out, device)
    latent = encode(encoder, fields[0], device, torch.float16)
    write(out / "first.pt", latent.cpu(), None)


def packed(tensor):
    buffer = io.BytesIO()
    torch.save(tensor, buffer)
    return buffer.getvalue()


def send(field):
    return packed(field.cuda())
