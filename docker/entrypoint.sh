#!/bin/sh
# Every container of the image starts here: the first one migrates, the others wait for it.
set -eu
python manage.py prepare
exec "$@"
