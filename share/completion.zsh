#compdef tyche
# zsh completion for tyche; made by 'tyche completion zsh'.

@FUNCTIONS@
if [ "$funcstack[1]" = "_tyche" ]; then
  _tyche "$@"
else
  compdef _tyche tyche
fi
