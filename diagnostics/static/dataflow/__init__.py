"""Which values and trip counts depend on the rank, and what an expression is on a given rank."""
