"""Single sign-on and second factors: what we change in allauth.

`providers` turns our rows into what allauth asks for, `accounts` are the sign-ins, `openid` checks
nonces and signatures, `transport` keeps its requests to what the policy for outgoing connections opens, `social` decides
who is linked and who gets an account, `factors` keeps codes from being guessed or used twice.
"""
