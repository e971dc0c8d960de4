# shellcheck shell=bash
call=(wget -q -O - --content-on-error --header "Authorization: Bearer $API_KEY")
# wget reads no variable for authorities: see the hint at the start of the proxy.
[ -z "${SSL_CERT_FILE:-}" ] || call+=(--ca-certificate="$SSL_CERT_FILE")
case $1 in
  call) "${call[@]}" "$API_URL/things" ;;
  stream) "${call[@]}" "$API_URL/events" ;;
  upload) "${call[@]}" --method=PUT --body-file="$FILE" "$API_URL/files/1" ;;
esac
