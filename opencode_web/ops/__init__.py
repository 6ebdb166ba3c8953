"""The operator console, `/ops/`: what all teams' work does to this installation.

An operator is no member of the teams. The pages name teams, projects and people, ids, states,
times, sizes and costs; never a title, a prompt, or anything that was said.
"""
