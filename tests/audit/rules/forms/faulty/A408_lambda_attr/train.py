from worker import Launcher


def main():
    scale = 3

    def train(rank, factor):
        print(rank, factor * scale)

    Launcher(train, 2).run(1.0)  # cause


if __name__ == "__main__":
    main()
