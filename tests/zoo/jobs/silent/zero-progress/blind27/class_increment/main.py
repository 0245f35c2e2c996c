import argparse
import json

import torch

from clearn.learner import Learner
from clearn.stream import TaskStream

parser = argparse.ArgumentParser()
parser.add_argument("--groups", type=int, nargs="+", default=[4, 3, 3])
parser.add_argument("--epochs", type=int, default=15)
parser.add_argument("--batch", type=int, default=32)
parser.add_argument("--width", type=int, default=64)
parser.add_argument("--lr", type=float, default=0.05)
parser.add_argument("--kd", type=float, default=1.0)
parser.add_argument("--temperature", type=float, default=2.0)
parser.add_argument("--exemplars", type=int, default=20)
args = parser.parse_args()

torch.manual_seed(1)
torch.set_num_threads(1)
learner = Learner(args, args.groups[0])
curve = []
for task, (train, seen) in enumerate(TaskStream(args.groups)):
    learner.begin_task(args.groups[task])
    print(f"task {task}: {len(train)} samples, {learner.net.classes} classes")
    learner.fit(train)
    learner.end_task(train)
    curve.append(round(learner.accuracy(seen), 4))
    print(f"  accuracy over classes seen so far {curve[-1]:.3f}")
json.dump({"curve": curve}, open("result.json", "w"))
print("average incremental accuracy", sum(curve) / len(curve))
