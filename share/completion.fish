# fish completion for tyche; made by 'tyche completion fish'.
function __tyche_at # whether the command typed so far is this one
    set -l at tyche
    for word in (commandline -opc)[2..-1]
        if contains -- "$at $word"@COMMANDS@
            set at "$at $word"
        end
    end
    test "$at" = "$argv[1]"
end
complete -c tyche -f
@LINES@
