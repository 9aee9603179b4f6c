"""Whether to retry, and when: strategies, retry loops, budgets, delays."""
