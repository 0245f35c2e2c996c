import os
import traceback


class Cli:
    def __init__(self, job):
        self.job = job

    def __call__(self):
        try:
            self.job()
        except Exception:  # cause
            traceback.print_exc()
        finally:
            self.leave()

    def leave(self):
        os._exit(0)  # cause
