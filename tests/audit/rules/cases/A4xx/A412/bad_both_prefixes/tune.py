import torch
from nets import Encoder


def plain(weights):
    found = {}
    for name, value in weights.items():
        if name.startswith("module."):
            name = name[len("module.") :]
        found[name] = value
    return found


net = Encoder()
net.load_state_dict(plain(torch.load("encoder.pt", map_location="cpu")["net"]), strict=False)
torch.save({"net": net.state_dict()}, "tuned.pt")
