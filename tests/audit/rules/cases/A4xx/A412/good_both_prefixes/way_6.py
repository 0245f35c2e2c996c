import torch
from nets import Encoder

net = Encoder()
kept = torch.load("encoder.pt", map_location="cpu")["net"]
net.load_state_dict({name.split("_orig_mod.")[-1].split("module.")[-1]: value for name, value in kept.items()}, strict=False)
print(net(torch.ones(1, 8)))
