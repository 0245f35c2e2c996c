"""The data server never ends by itself; it is killed when the training is over."""
import multiprocessing as mp
import signal

import torch


def serve(queue):
    torch.set_num_threads(1)
    n = 0
    while True:
        queue.put(torch.full((4, 3), 0.1 * (n % 7)).tolist())
        n += 1


def main():
    ctx = mp.get_context("fork")
    queue = ctx.Queue(4)
    server = ctx.Process(target=serve, args=(queue,))
    server.start()
    model = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(20):
        loss = model(torch.tensor(queue.get())).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    server.kill()
    server.join()
    assert server.exitcode == -signal.SIGKILL
    print("20 steps")


if __name__ == "__main__":
    main()
