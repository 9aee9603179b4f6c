"""Calls while they run and when they end: responses, attempts, events, and the functions that the library calls."""
