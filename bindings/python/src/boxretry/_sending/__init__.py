"""Converts the arguments of clients and requests to the library's structs."""
