"""Rules A2xx about predictions and metrics: gathered in another order or twice, of one share, compared out of order."""
