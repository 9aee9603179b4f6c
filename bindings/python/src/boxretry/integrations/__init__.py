"""Adapters that let other packages use this engine. Import each separately; it needs the package of its name.

`requests`: a transport adapter; `httpx`, `httpx2`: transports; `box_sdk`: a network client for the Box SDK (`boxsdk`
10); `opentelemetry`: traces and metrics.
"""
