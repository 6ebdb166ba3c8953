"""The steps of the GitHub Action in github/action.yml, after the one that installs this.

`prepare` fetches the diff of the pull request, `run` sends the prompt, `report` posts the result,
and `finish` ends with its exit code. Only `prepare` and `report` get the token of GitHub, and only
`run` uses the key of the model. Inputs and the event come as variables and files, never as a part
of a command.
"""
