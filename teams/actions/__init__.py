"""Every write of the app. One function is one transaction: the rows and their audit row.

The caller has authorised by `teams.access`; what an action checks itself are the rules that hold
for everybody, such as "a team always has an owner".
"""
