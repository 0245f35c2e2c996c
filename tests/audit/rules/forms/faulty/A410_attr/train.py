import multiprocessing
from cache import Cache

CACHE = Cache()


def work(i):
    return CACHE.get(i)


def main():
    with multiprocessing.get_context("fork").Pool(2) as pool:  # cause
        print(pool.map(work, range(10)))


if __name__ == "__main__":
    main()
