"""Runs a function in a process of its own, so that its memory goes with it."""
import multiprocessing
import traceback


def _child(fn, args, results):
    try:
        results.put(("ok", fn(*args)))
    except Exception:
        results.put(("error", traceback.format_exc()))


def run_isolated(fn, *args):
    context = multiprocessing.get_context("spawn")
    results = context.Queue()
    proc = context.Process(target=_child, args=(fn, args, results), daemon=True)
    proc.start()
    proc.join()
    status, data = results.get()
    if status == "error":
        raise RuntimeError(f"isolated {fn.__name__} failed:\n{data}")
    return data
