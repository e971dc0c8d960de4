#compdef cloakroom
_cloakroom() {
  local line kind=done
  local -a found shown
  while IFS= read -r line; do
    case $line in
      :*) kind=${line#:} ;;
      *)
        found+=("${line%%$'\t'*}")
        shown+=("${line/$'\t'/  -- }")
        ;;
    esac
  done < <("${(Q)words[1]}" __complete "${(@Q)words[2,CURRENT]}" </dev/null 2>/dev/null)
  case $kind in
    more) compadd -S '' -a found ;;
    commands) _command_names -e ;;
    files) _files ;;
    *) compadd -l -d shown -a found ;;
  esac
}
# Loaded by the first TAB, this is the body of the function; else it is sourced.
if [[ ${funcstack[1]} == _cloakroom ]]; then
  _cloakroom "$@"
else
  (( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
  compdef _cloakroom cloakroom
fi
