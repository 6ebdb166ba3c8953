"""Kill a real installation at named points, and look whether anything was lost, doubled or stuck.

`make chaos` plays many seeds; the tests play a few. Nothing of the server is mocked: its genuine
processes run, and `site/sitecustomize.py` lets `points.py` reach into them.
"""
