import pandas as pd
from sklearn.utils import resample


def balanced(frame, column, seed):
    """Draws each class up to the size of the largest one."""
    most = frame[column].value_counts().max()
    parts = []
    for _, rows in frame.groupby(column):
        parts.append(resample(rows, replace=True, n_samples=most, random_state=seed))
    return pd.concat(parts).reset_index(drop=True)
