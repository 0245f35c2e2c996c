import torch
import torch.distributed as dist

from distill.nets import WaveNet
from distill.sensors import SensorWindows
from distill.stages import accuracy, distil, pretrain_teacher
from distill.wrapper import DistillationModel


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(21)
    lab = SensorWindows(2048, seed=1)
    held_out = SensorWindows(512, seed=2)
    field = SensorWindows(3072, seed=3, offset=0.8, gain=1.6)
    teacher = pretrain_teacher(WaveNet(width=32, depth=3, drop=0.4), lab, epochs=4)
    score = accuracy(teacher, teacher, held_out)
    if dist.get_rank() == 0:
        print(f"teacher accuracy {score:.3f}", flush=True)
    distil(DistillationModel(WaveNet(width=12, depth=1), teacher), field, held_out, epochs=5)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
