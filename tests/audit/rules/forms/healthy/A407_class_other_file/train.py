import torch
from actors import Pool


class Learner:
    def __init__(self):
        self.net = torch.nn.Linear(4, 2).cuda()


def main():
    pool = Pool(torch.nn.Linear(4, 2), 4)
    pool.start()
    learner = Learner()
    print(learner)
    for actor in pool.actors:
        actor.join()


if __name__ == "__main__":
    main()
