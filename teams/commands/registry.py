"""The commands of the pages: one list for the palette, `/` in the message field, menus, the
navigation of the settings, keys and the list that `?` opens.

An act is possible where the page that is open has something for its id: `static/js` binds it, or an
element has it in `data-command`. A page has an address instead.
"""

from __future__ import annotations

from teams.commands.acts import ACTS
from teams.commands.pages import PAGES

COMMANDS = (*ACTS, *PAGES)
BY_ID = {command.id: command for command in COMMANDS}
BINDABLE = tuple(one for one in COMMANDS if one.is_bindable or one.is_fixed)
