"""Other packages on this engine. Each module needs the package that it is named after, and is imported by itself.

`requests`: a transport adapter; `httpx`: transports; `box_sdk`: a network client for the Box SDK (`boxsdk` 10).
"""
