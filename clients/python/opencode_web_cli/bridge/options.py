"""What can be chosen for a session: its model, how much it thinks, and its agent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

from acp import RequestError

from opencode_web_cli.bridge.server import Json, Server

# What OpenCode's clients read where no variant of a model is chosen.
NO_VARIANT = "default"


@dataclass(frozen=True)
class Model:
    """Units: `context` is tokens."""

    name: str
    variants: tuple[str, ...]
    context: int


@dataclass(frozen=True)
class Choices:
    """What a place offers."""

    models: dict[str, Model]
    model: str
    # Names of agents with what they are for.
    agents: dict[str, str]
    agent: str
    commands: list[Json]


@dataclass
class Chosen:
    """What an editor has chosen of it. What it has not, the server decides for each prompt."""

    choices: Choices
    model: str
    agent: str
    variant: str = NO_VARIANT
    # Which of them go along with the next prompt.
    _named: set[str] = field(default_factory=set)

    def choose(self, option: str, value: object) -> None:
        """Raises: RequestError for an option or a value that there is not."""
        known: dict[str, object] = {"model": self.choices.models, "mode": self.choices.agents}
        if self._variants():
            known["effort"] = self._variants()
        if option not in known or not isinstance(value, str):
            raise _unknown("config option", "configId", option)
        values = known[option]
        assert isinstance(values, dict | list)
        if value not in values:
            raise _unknown({"mode": "mode"}.get(option, option), option, value)
        if option == "model":
            self.model, self.variant = value, NO_VARIANT
        elif option == "effort":
            self.variant = value
            self._named.add("model")
        else:
            self.agent = value
        self._named.add(option)

    def choose_model(self, value: str) -> None:
        """Choose `provider/model`, or `provider/model/effort`. Raises: RequestError."""
        model, _, effort = value.rpartition("/")
        if value in self.choices.models or model not in self.choices.models:
            self.choose("model", value)
            return
        if effort not in (*self.choices.models[model].variants, NO_VARIANT):
            raise _unknown("model", "model", value)
        self.choose("model", model)
        if effort != NO_VARIANT:
            self.choose("effort", effort)

    def for_prompt(self) -> Json:
        """Returns: the fields of a prompt that say what was chosen."""
        body: Json = {}
        if "mode" in self._named:
            body["agent"] = self.agent
        if "model" in self._named:
            provider, _, model = self.model.partition("/")
            body["model"] = {"providerID": provider, "modelID": model}
            if self.variant != NO_VARIANT:
                body["variant"] = self.variant
        return body

    def options(self) -> list[Json]:
        """Returns: `configOptions`."""
        models = [
            {"value": value, "name": model.name} for value, model in self.choices.models.items()
        ]
        listed = [_select("model", "Model", "model", self.model, models)]
        if variants := self._variants():
            efforts = [{"value": one, "name": one.capitalize()} for one in variants]
            effort = _select("effort", "Effort", "thought_level", self.variant, efforts)
            listed.append({**effort, "description": "How much the model thinks"})
        agents = [
            {"value": name, "name": name, "description": text}
            for name, text in self.choices.agents.items()
        ]
        return [*listed, _select("mode", "Session Mode", "mode", self.agent, agents)]

    def _variants(self) -> list[str]:
        model = self.choices.models.get(self.model)
        if model is None or not model.variants:
            return []
        return [*(one for one in model.variants if one != NO_VARIANT), NO_VARIANT]


def _select(id: str, name: str, category: str, value: str, options: list[Json]) -> Json:
    shape = {"id": id, "name": name, "category": category, "type": "select"}
    return {**shape, "currentValue": value, "options": options}


def _unknown(what: str, field: str, value: str) -> RequestError:
    message = f"unknown {what}: {value}" if field == "configId" else f"{what} not found: {value}"
    return RequestError(-32602, f"Invalid params: {message}", {field: value})


async def read_choices(server: Server, directory: str) -> Choices:
    """Raises: Refused, Lost."""
    providers, agents, commands, config = await asyncio.gather(
        *(
            server.call("GET", path, directory=directory)
            for path in ("/config/providers", "/agent", "/command", "/config")
        )
    )
    models = {
        f"{provider['id']}/{model['id']}": Model(
            f"{provider['name']}/{model['name']}",
            tuple(model.get("variants") or ()),
            int(model["limit"]["context"]),
        )
        for provider in providers["providers"]
        for model in provider["models"].values()
    }
    defaults = [f"{provider}/{model}" for provider, model in providers["default"].items()]
    wanted = next((one for one in (config.get("model"), *defaults) if one in models), "")
    primary = {
        one["name"]: one.get("description") or ""
        for one in agents
        if one["mode"] != "subagent" and not one.get("hidden")
    }
    agent = str(config.get("default_agent") or "")
    first = agent if agent in primary else next(iter(primary), "")
    return Choices(models, wanted or next(iter(models), ""), primary, first, commands)


def chosen_of(session: Json, choices: Choices) -> Chosen:
    """Returns: what a session has, as far as it is still offered."""
    chosen = Chosen(choices, choices.model, choices.agent)
    model = session.get("model") or {}
    named = f"{model.get('providerID')}/{model.get('id')}"
    if named in choices.models:
        chosen.model = named
        variant = model.get("variant") or NO_VARIANT
        chosen.variant = variant if variant in choices.models[named].variants else NO_VARIANT
    if session.get("agent") in choices.agents:
        chosen.agent = str(session["agent"])
    return chosen
