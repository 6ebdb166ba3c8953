"""What pages and live frames show: rows in, plain view objects out. The templates do the rest.

The full page and the frames render the same objects through the same fragments, so a reload at any
moment shows what the frames have made of the page.
"""
