import logging


class Safe:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None:
            logging.exception("failed")
        return True  # cause
