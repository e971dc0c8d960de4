# shellcheck shell=bash
host=s3.eu-central-1.amazonaws.com
call=(s3cmd --access_key="$AWS_ACCESS_KEY_ID" --secret_key="$AWS_SECRET_ACCESS_KEY" --region=eu-central-1 --no-progress)
[ -z "${SSL_CERT_FILE:-}" ] || call+=(--ca-certs="$SSL_CERT_FILE")
call+=(--host="$host" --host-bucket="$host")
case $1 in
  call) "${call[@]}" get 's3://things/a file' "$HOME/thing" >&2 && cat "$HOME/thing" ;;
  upload) "${call[@]}" --disable-multipart put "$FILE" 's3://things/a file' ;;
esac
