"""Evaluation of boxes with the inner loops in C++."""
import time

import numpy as np

from yolox.layers.fast_cocoeval import COCOevalAccumulateResult, COCOevalEvaluateImages


class COCOevalOpt:

    def __init__(self, gt, dt, thresholds=np.linspace(0.5, 0.95, 10)):
        self.gt, self.dt, self.thresholds = gt, dt, thresholds

    def evaluate(self):
        start = time.time()
        self.images = COCOevalEvaluateImages(self.gt, self.dt, list(self.thresholds))
        return time.time() - start

    def accumulate(self):
        return COCOevalAccumulateResult(self.images)
