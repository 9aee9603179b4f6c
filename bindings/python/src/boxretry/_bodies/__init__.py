"""The bodies of requests and responses: where they come from, and their destinations."""
