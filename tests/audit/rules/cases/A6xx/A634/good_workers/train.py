import os

import torch
import torch.multiprocessing as mp


def work(rank):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(rank)
    model = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 4).cuda()).mean().backward()
    optimizer.step()


def main():
    if not torch.cuda.is_available():
        raise SystemExit("no GPU")
    mp.spawn(work, nprocs=torch.cuda.device_count())


if __name__ == "__main__":
    main()
