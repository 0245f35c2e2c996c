import logging


class App:
    def __init__(self, fit):
        self.fit = fit

    def run(self):
        try:
            self.fit()
        except Exception as error:  # cause
            logging.error("training ended: %s", error)
