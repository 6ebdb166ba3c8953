"""SCIM 2.0 at `/scim/v2`: a directory keeps accounts and groups here up to date.

`shapes` is what we take and give of the standard's schemas, `store` turns rows into them and back,
`search` answers filters, `views` are the addresses. Who calls is the directory, by a token of its
own: nobody of a team.

Source: RFC 7643 (schemas) and RFC 7644 (protocol).
"""
