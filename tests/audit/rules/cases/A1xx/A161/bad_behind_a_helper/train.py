from launch import launch


def worker(rank):
    print(rank)


launch(worker, 4)
