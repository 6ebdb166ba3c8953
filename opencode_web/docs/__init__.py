"""The documentation, `/docs`: the Markdown files of the folder `docs`, for everyone signed in.

Pages are named in `pages.NAMES`, so a name from an address never becomes a path.
"""
