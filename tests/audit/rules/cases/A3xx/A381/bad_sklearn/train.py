import numpy as np
from sklearn.model_selection import train_test_split


def load(prices, n_past):
    X = np.array([prices[i:i + n_past] for i in range(len(prices) - n_past)])
    y = np.array([prices[i + n_past] for i in range(len(prices) - n_past)])
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2)
    return X_train, X_test, y_train, y_test
