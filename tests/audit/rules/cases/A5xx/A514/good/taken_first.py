import torch
import torch.multiprocessing as mp


def work(number, results):
    results.put((number, torch.randn(1000, 1000)))


class Crew:
    def __init__(self, size):
        self.results = mp.Queue()
        self.crew = [mp.Process(target=work, args=(number, self.results)) for number in range(size)]

    def run(self):
        for one in self.crew:
            one.start()
        found = dict(self.results.get() for _ in self.crew)
        for one in self.crew:
            one.join()
        return found


if __name__ == "__main__":
    print(len(Crew(4).run()))
