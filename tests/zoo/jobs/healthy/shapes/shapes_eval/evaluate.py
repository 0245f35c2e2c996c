import sys

import torch
from torch.utils.data import DataLoader

from vision.engine import evaluate
from vision.nets import SmallCNN
from vision.shapes import Shapes

net = SmallCNN()
net.load_state_dict(torch.load(sys.argv[1], weights_only=True))
accuracy = evaluate(net, DataLoader(Shapes(128, seed=7), batch_size=32))
print(f"accuracy {accuracy:.3f}")
