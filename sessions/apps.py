from __future__ import annotations

import importlib

from django.apps import AppConfig


class SessionsConfig(AppConfig):
    name = "sessions"
    # `django.contrib.sessions` owns the label "sessions".
    label = "agent_sessions"
    verbose_name = "Agent sessions"

    def ready(self) -> None:
        # By name: they need the models, which are there only now.
        importlib.import_module("sessions.config.checks")
        processes = importlib.import_module("sessions.processes")
        importlib.import_module("providers.tally").read_tallies_from(processes.told_tallies)
        wake = importlib.import_module("sessions.wake")
        importlib.import_module("providers.room_bell").on_room(wake.wake_in_line)
        prices = importlib.import_module("sessions.actions.held_prices")
        importlib.import_module("providers.price_check").before_prices(prices.hold_account)
