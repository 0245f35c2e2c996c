import torch
from nets import Encoder

PREFIXES = ("module.", "_orig_mod.")
net = Encoder()
kept = torch.load("encoder.pt", map_location="cpu")["net"]
plain = {}
for name, value in kept.items():
    for prefix in PREFIXES:
        if name.startswith(prefix):
            name = name[len(prefix) :]
    plain[name] = value
net.load_state_dict(plain, strict=False)
print(net(torch.ones(1, 8)))
