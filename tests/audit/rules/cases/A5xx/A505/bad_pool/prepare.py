from multiprocessing import Pool


def encode(path, out):
    with open(path) as source, open(out / path.name, "w") as target:
        target.write(source.read().upper())


def main(paths, out):
    pool = Pool(8)
    for path in paths:
        pool.apply_async(encode, (path, out))
    pool.close()
    pool.join()
    print("all encoded")
