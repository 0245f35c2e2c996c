"""Exit code: 0 better than the best so far, 3 not better."""
import argparse
import json
import os
import sys

import torch

from model import detector
from scenes import scenes

p = argparse.ArgumentParser()
p.add_argument("weights")
p.add_argument("--best", default="best.json")
args = p.parse_args()
torch.set_num_threads(1)
net = detector()
net.load_state_dict(torch.load(args.weights, weights_only=True))
net.eval()
image, kind, box = scenes(400, torch.Generator().manual_seed(77))
with torch.no_grad():
    out = net(image)
score = (out[:, :4].argmax(1) == kind).float().mean().item() - (out[:, 4:] - box).abs().mean().item()
best = json.load(open(args.best))["score"] if os.path.exists(args.best) else -9.0
print(f"evaluation {os.path.basename(args.weights)}: {score:.3f} (best {best:.3f})", flush=True)
if score <= best + 0.03:
    sys.exit(3)
json.dump({"score": score}, open(args.best, "w"))
