import os

import torch

from net import Net
from options import parse

opt = parse()
if opt.start_from is not None:
    infos = torch.load(os.path.join(opt.start_from, "infos.pt"), weights_only=False)
    vars(opt).update(vars(infos["opt"]))

model = Net(opt)
if opt.start_from is not None:
    model.load_state_dict(torch.load(os.path.join(opt.start_from, "model.pt")))
