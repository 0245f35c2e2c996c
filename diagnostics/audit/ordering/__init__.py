"""Rules A101 to A149 and A161: set-up calls in the wrong order."""
