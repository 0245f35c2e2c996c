import numpy as np


def forecast_pairs(series, past, future):
    rows = np.lib.stride_tricks.sliding_window_view(series, past + future)
    centre = rows.mean(axis=1, keepdims=True)
    spread = np.std(rows, axis=1, keepdims=True)
    rows = (rows - centre) / spread
    return rows[:, :past], rows[:, past:]
