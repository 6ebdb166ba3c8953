"""Packages that operators install beside the server: found, called and switched off.

`values.py`   what hooks get and give; `specs.py` has the hooks, and is the only module with pluggy
`loading.py`  finds and loads them once, when the process starts; `checks.py` says what went wrong
`calls.py`    one call of a hook: beside the caller, within its time, and counted when it fails

They are trusted like the server itself and see no secrets here all the same. Authors import
`opencode_web.plugin`.
"""
