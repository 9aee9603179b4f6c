"""The C interface: finding the library, its structs and functions, the owners of its handles, and its arguments."""
