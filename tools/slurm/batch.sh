#!/bin/sh
# A batch job: runs its arguments.
exec "$@"
