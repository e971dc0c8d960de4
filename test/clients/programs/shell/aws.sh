# shellcheck shell=bash
# Version 2, as Debian has it; other packages of Python bring version 1 under the same name.
export AWS_DEFAULT_REGION=eu-central-1 AWS_MAX_ATTEMPTS=1
aws() { /usr/bin/aws ${AWS_ENDPOINT_URL:+--endpoint-url "$AWS_ENDPOINT_URL"} "$@"; }
aws configure set default.s3.addressing_style path
case $1 in
  call) aws s3api get-object --bucket things --key 'a file' "$HOME/thing" >&2 && cat "$HOME/thing" ;;
  stream) aws s3 cp 's3://things/a file' - ;;
  upload) aws s3api put-object --bucket things --key 'a file' --body "$FILE" ;;
esac
