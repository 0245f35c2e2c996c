import multiprocessing as mp


def encode(path, out):
    (out / path.name).write_text(path.read_text().upper())


def asked(paths, out):
    pool = mp.Pool(8)
    results = [pool.apply_async(encode, (path, out)) for path in paths]
    pool.close()
    pool.join()
    for one in results:
        one.get()


def told(paths, out, failed):
    pool = mp.Pool(8)
    for path in paths:
        pool.apply_async(encode, (path, out), error_callback=failed.append)
    pool.close()
    pool.join()
    if failed:
        raise failed[0]


def caught(path, log):
    try:
        path.unlink()
    except Exception as error:
        log.put(error)


def cleared(paths, log):
    pool = mp.Pool(8)
    for path in paths:
        pool.apply_async(caught, (path, log))
    pool.close()
    pool.join()
