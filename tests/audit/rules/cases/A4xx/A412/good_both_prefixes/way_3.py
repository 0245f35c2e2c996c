import torch
from nets import Encoder

net = Encoder()
kept = torch.load("encoder.pt", map_location="cpu")["net"]
net.load_state_dict({name[len("module._orig_mod.") :]: value for name, value in kept.items()}, strict=False)
print(net(torch.ones(1, 8)))
