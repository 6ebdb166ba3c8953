"""Every change of accounts at providers. Each function is one transaction with its audit row."""

from __future__ import annotations

from providers.actions.accounts import bind_addresses as bind_addresses
from providers.actions.accounts import create_demo as create_demo
from providers.actions.accounts import create_provider as create_provider
from providers.actions.accounts import delete_provider as delete_provider
from providers.actions.accounts import share_provider as share_provider
from providers.actions.accounts import update_provider as update_provider
from providers.actions.circuits import claim_probe as claim_probe
from providers.actions.circuits import note_failure as note_failure
from providers.actions.circuits import note_success as note_success
from providers.actions.key_limits import limit_key as limit_key
from providers.actions.keys import absorb_keys as absorb_keys
from providers.actions.keys import add_key as add_key
from providers.actions.keys import record_test as record_test
from providers.actions.keys import remove_credential as remove_credential
from providers.actions.keys import remove_key as remove_key
from providers.actions.keys import rename_credential as rename_credential
from providers.actions.keys import set_key as set_key
from providers.actions.keys import set_key_of as set_key_of
from providers.actions.keys import set_own_key as set_own_key
from providers.actions.models import describe_model as describe_model
from providers.actions.models import forget_bounds as forget_bounds
from providers.actions.models import learn_bound as learn_bound
from providers.actions.models import pick_models as pick_models
from providers.actions.models import replace_picked as replace_picked
from providers.actions.models import switch_model as switch_model
from providers.actions.rows import account_place as account_place
from providers.actions.rows import forget_moved_keys as forget_moved_keys
from providers.actions.rows import forget_test as forget_test
from providers.actions.rows import fresh_row as fresh_row
from providers.actions.rows import lock_provider as lock_provider
