"""Calls, while they run and after they end: responses, attempts, events, and the functions that the library calls."""
