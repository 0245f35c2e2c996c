import multiprocessing
import os

import torch


def work(rank):
    os.environ["CUDA_VISIBLE_DEVICES"] = str(rank)
    model = torch.nn.Linear(4, 1).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    model(torch.ones(2, 4).cuda()).mean().backward()
    optimizer.step()


def main():
    context = multiprocessing.get_context("spawn")
    running = [context.Process(target=work, args=(one,)) for one in range(torch.cuda.device_count())]
    print(torch.cuda.get_device_name())
    for one in running:
        one.start()
    for one in running:
        one.join()


if __name__ == "__main__":
    main()
