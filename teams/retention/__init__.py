"""How long things are kept, and what must not be deleted.

`days`: what a team has chosen, and the most that this server allows. `holds`: what beats that, and
every deletion by people as well.
"""
