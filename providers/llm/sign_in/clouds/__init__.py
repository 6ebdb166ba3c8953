"""Tokens from what clouds give instead of keys: a key file, an application, a profile.

Each function makes a grant with an end, from the same things again and again; nothing refreshes it
otherwise. What adapters read of it is in `Grant.secrets`.
"""

from __future__ import annotations

from .aws import profile_grant as profile_grant
from .entra import Application as Application
from .entra import entra_grant as entra_grant
from .entra import entra_scope as entra_scope
from .google import google_grant as google_grant
from .google import read_key_file as read_key_file
