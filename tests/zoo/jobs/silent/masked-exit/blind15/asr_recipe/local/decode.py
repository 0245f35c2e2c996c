import argparse

import torch

from net import Conformerish

p = argparse.ArgumentParser()
p.add_argument("--data")
p.add_argument("--model")
a = p.parse_args()
net = Conformerish().eval()
net.load_state_dict(torch.load(a.model))
wrong = total = 0
with torch.no_grad():
    for frames, text in torch.load(a.data):
        path = net(frames[None])[0].argmax(-1).unique_consecutive()
        wrong += abs(int((path > 0).sum()) - len(text))
        total += len(text)
print(f"length error {wrong / total:.3f} over {total} symbols")
