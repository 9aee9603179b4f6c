"""The library as C sees it: where it is found, its structs and functions, who owns its handles, what it is given."""
