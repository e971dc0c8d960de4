_cloakroom() {
  local line word kind=done
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) kind=${line#:} ;;
      *)
        # Names come from other people: none of them is run.
        printf -v word %q "${line%%$'\t'*}"
        COMPREPLY+=("$word")
        ;;
    esac
  done < <("${COMP_WORDS[0]}" __complete "${COMP_WORDS[@]:1:COMP_CWORD}" </dev/null 2>/dev/null)
  case $kind in
    more) compopt -o nospace 2>/dev/null ;;
    commands) while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -c -- "$2") ;;
    files) compopt -o default 2>/dev/null ;;
  esac
}
complete -F _cloakroom cloakroom
