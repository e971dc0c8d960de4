# shellcheck shell=bash
# It finds fault with this one, and reads SSL_CERT_FILE.
unset AWS_CA_BUNDLE
call=(rclone --retries 1 --low-level-retries 1)
remote=":s3,provider=AWS,env_auth=true,region=eu-central-1,force_path_style=true,no_check_bucket=true:things"
[ -z "${AWS_ENDPOINT_URL:-}" ] || remote=":s3,provider=Other,env_auth=true,region=eu-central-1,endpoint='$AWS_ENDPOINT_URL',no_check_bucket=true:things"
case $1 in
  call) "${call[@]}" copyto "$remote/a file" "$HOME/thing" && cat "$HOME/thing" ;;
  upload) "${call[@]}" copyto "$FILE" "$remote/a file" ;;
esac
