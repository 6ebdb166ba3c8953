"""Single sign-on and second factors: what we change in allauth.

`providers` turns our rows into what allauth asks for, `discovery` reads what providers say about
themselves, `openid` checks nonces and signatures, `transport` keeps requests to what the policy for
outgoing connections opens, `social` decides who is linked and who gets an account, `accounts` are
the sign-ins, `factors` keeps codes from being guessed or used twice.
"""
