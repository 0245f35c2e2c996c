"""The part of a logger that the tools use."""
import functools
import sys
import time
import traceback


class Logger:
    def __init__(self, rank=0, stream=sys.stderr):
        self.rank = rank
        self.stream = stream

    def _emit(self, level, message):
        stamp = time.strftime("%H:%M:%S")
        self.stream.write(f"{stamp} | {level:<5} | rank {self.rank} | {message}\n")
        self.stream.flush()

    def info(self, message):
        if self.rank == 0:
            self._emit("INFO", message)

    def catch(self, function=None, *, reraise=False):
        """Writes down what a function raised."""
        if function is None:
            return functools.partial(self.catch, reraise=reraise)

        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            try:
                return function(*args, **kwargs)
            except Exception as error:
                details = traceback.format_exc(limit=3)
                self._emit("ERROR", f"An error has been caught in function '{function.__name__}': {error!r}\n{details}")
                if reraise:
                    raise

        return wrapper


logger = Logger()
