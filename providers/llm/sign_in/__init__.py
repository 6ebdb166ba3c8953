"""Signing in at providers: every flow that ends in something to call models with.

    method -> begin -> Begun      a page to open, and a secret state for the caller to keep
    "code":   finish(state, what the person brings back) -> Grant
    "device": poll(state) -> Pending | Grant, again and again
    "key":    with_key(inputs, key) -> Grant
    Grant -> refresh -> Grant, before it ends; revoke, once it is no longer wanted

Nothing is stored here, and no flow listens on a port. The caller keeps grants encrypted, and makes
sure that one is not refreshed twice at once: most refresh tokens can be used once. `clouds` makes
tokens of what clouds give instead of keys: key files, applications, profiles. What goes wrong is in
`errors.py`. Another provider is a `SignIn` that is registered.
"""

from __future__ import annotations

from . import accounts as accounts
from . import copilot as copilot
from . import digitalocean as digitalocean
from . import gitlab as gitlab
from . import openai as openai
from . import poe as poe
from . import snowflake as snowflake
from . import xai as xai
from .base import SignIn as SignIn
from .base import methods_of as methods_of
from .base import register_sign_in as register_sign_in
from .base import sign_in_ids as sign_in_ids
from .base import sign_in_of as sign_in_of
from .grants import Begun as Begun
from .grants import Grant as Grant
from .grants import Pending as Pending
from .http import Http as Http
from .methods import Method as Method
from .methods import Option as Option
from .methods import Prompt as Prompt
from .methods import When as When
