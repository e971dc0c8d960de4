function __cloakroom_complete
    set -l typed (commandline -opc)
    set -l current (commandline -ct)
    for line in ($typed[1] __complete $typed[2..-1] "$current" </dev/null 2>/dev/null)
        switch $line
            case :commands
                __fish_complete_command
            case :files
                __fish_complete_path "$current"
            case ':*'
            case '*'
                printf '%s\n' $line
        end
    end
end
complete -c cloakroom -f -a '(__cloakroom_complete)'
