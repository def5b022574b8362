# bash completion for tyche; made by 'tyche completion bash'.
_tyche_options() { # COMMAND: its options and, of a group, its commands
  case "$1" in
    # @OPTIONS@
  esac
}
_tyche_values() { # COMMAND OPTION: what a value can be; fails where the option takes none or is none
  case "$1 $2" in
    # @VALUES@
    *) return 1 ;;
  esac
}
_tyche_positionals() { # COMMAND: what its arguments that are no options can be
  case "$1" in
    # @POSITIONALS@
  esac
}
_tyche() {
  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command=tyche kind words before= i
  for ((i = 1; i < COMP_CWORD; i++)); do
    case " $(_tyche_options "$command") " in
      *" ${COMP_WORDS[i]} "*) [[ ${COMP_WORDS[i]} == -* ]] || command+=" ${COMP_WORDS[i]}" ;;
    esac
  done
  # bash cuts --option=value at the sign
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $prev == "=" ]]; then
    prev=${COMP_WORDS[COMP_CWORD-2]}
  fi
  COMPREPLY=()
  if ! words=$(_tyche_values "$command" "$prev"); then
    if [[ $cur == -* ]]; then
      COMPREPLY=($(compgen -W "$(_tyche_options "$command")" -- "$cur"))
      return
    fi
    words=$(_tyche_positionals "$command")
  fi
  kind=${words%% *}
  words=${words#"$kind"}
  if [[ $kind == list* && $cur == *,* ]]; then
    before=${cur%,*},
    cur=${cur##*,}
  fi
  COMPREPLY=($(compgen -P "$before" -W "$words" -- "$cur"))
  case $kind in
    *file)
      compopt -o filenames 2>/dev/null
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P "$before" -f -- "$cur") ;;
    *folder)
      compopt -o filenames 2>/dev/null
      mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -P "$before" -d -- "$cur") ;;
  esac
}
complete -F _tyche tyche
