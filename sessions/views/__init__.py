"""Browser pages, their fragments and forms. They fetch by `sessions.access`, call actions, render.

The same view serves htmx and plain browsers: a form answers with what it changed, or redirects.
"""
