"""Access tokens, and the endpoints that issue them."""
