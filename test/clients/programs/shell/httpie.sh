# shellcheck shell=bash
call=(http --check-status --ignore-stdin --body)
case $1 in
  call) "${call[@]}" "$API_URL/things" "Authorization: Bearer $API_KEY" ;;
  stream) "${call[@]}" --stream "$API_URL/events" "Authorization: Bearer $API_KEY" ;;
  upload) "${call[@]}" --multipart POST "$API_URL/files" "Authorization: Bearer $API_KEY" "file@$FILE" ;;
esac
