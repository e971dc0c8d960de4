# shellcheck shell=bash
# The helper is git's own way to hand over a password.
# shellcheck disable=SC2016
helper='!f() { echo username=git; echo "password=$GIT_PASSWORD"; }; f'
GIT_TERMINAL_PROMPT=0 git -c credential.helper="$helper" ls-remote "$GIT_URL/things.git"
