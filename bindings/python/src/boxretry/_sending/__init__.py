"""From the arguments of clients and requests to the structs of the library."""
