"""Why a provider, or an account at one, cannot be used now."""

from __future__ import annotations

from django.utils.translation import gettext_noop

from opencode_web.lib.reasons import Reason


class ProviderReason(Reason):
    """What stands against a call before it is made."""

    WAITING = "waiting_for_room", gettext_noop("Waiting for room at {name}")
    RESTING = (
        "address_resting",
        gettext_noop(
            "{name} has failed {count} times in a row ({why}), so it is not asked again for "
            "{seconds} s."
        ),
    )
    KEY_RESTING = (
        "key_resting",
        gettext_noop(
            "{name} has refused the key {count} times in a row ({why}), so it is not used again "
            "for {seconds} s."
        ),
    )
    NO_KEY = (
        "no_key",
        gettext_noop(
            "There is no credential for {provider}. Set its key under Team settings → Models."
        ),
    )
    SIGNED_OUT = (
        "signed_out",
        gettext_noop(
            "The sign-in to {provider} has ended. An admin can sign in again under Team settings → "
            "Models."
        ),
    )
    SIGNED_OUT_OF_OWN = (
        "signed_out_of_own",
        gettext_noop(
            "Your sign-in to {provider} has ended. Sign in again under Your account → My models."
        ),
    )
    NO_CONNECTION = (
        "no_connection",
        gettext_noop(
            "{provider} cannot be reached yet. Set what is missing under Team settings → Models: "
            "{names}."
        ),
    )
    NO_ADDRESS = (
        "no_address",
        gettext_noop("{name} has no base URL. Set it under Team settings → Models."),
    )
    BAD_ADDRESS = "bad_address", gettext_noop("The base URL of {name} cannot be used: {why}")
    NO_MODEL = (
        "no_model",
        gettext_noop("No model is set up. Add a provider under Team settings → Models."),
    )
    NONE_REACHED = (
        "none_reached",
        gettext_noop("{names} cannot be reached yet. Complete it under Team settings → Models."),
    )
    KEYS_MISSING = (
        "keys_missing",
        gettext_noop("A key is still missing for {names}. Set it under Team settings → Models."),
    )
    SWITCHED_OFF = (
        "switched_off",
        gettext_noop(
            "{model} is switched off for this team. Choose another model, or have an admin switch "
            "it on under Team settings → Models."
        ),
    )
    NOT_ALLOWED = (
        "model_not_allowed",
        gettext_noop(
            "{model} is not among the allowed models. Choose another model. An admin can change "
            "the list, limits.models, in the settings."
        ),
    )
    UNPRICED = (
        "unpriced",
        gettext_noop(
            "The price of {model} is not known, so it cannot be held to the budget. Choose another "
            "model, or ask whoever manages {provider} to enter a price for it, or an admin to "
            "allow models without a price under Budgets."
        ),
    )
    UNPRICED_OF_SERVER = (
        "unpriced_of_server",
        gettext_noop(
            "The price of {model} is not known, so it cannot be held to the budget of this server. "
            "Choose another model, or ask an operator to enter a price for it at {provider}."
        ),
    )
    SIGN_IN_ENDED = "sign_in_ended", gettext_noop("The sign-in to the provider has ended.")
    NOT_RENEWED = (
        "sign_in_not_renewed",
        gettext_noop("The provider did not renew the sign-in. It may work again in a moment."),
    )
    SIGN_IN_AGAIN = (
        "sign_in_again",
        gettext_noop(
            "{said} Sign in again under Team settings → Models, or under Your account → My models "
            "for an account of your own."
        ),
    )
