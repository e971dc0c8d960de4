# shellcheck shell=bash
call=(curl -sS --fail-with-body -H "Authorization: Bearer $API_KEY")
case $1 in
  call) "${call[@]}" "$API_URL/things" ;;
  stream) "${call[@]}" -N "$API_URL/events" ;;
  upload) "${call[@]}" -T "$FILE" "$API_URL/files/1" ;;
esac
