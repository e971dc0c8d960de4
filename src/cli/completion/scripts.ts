/**
 * What each shell does to ask for candidates. Names come from other people: each shell quotes what it puts on
 * the line, so that none of it is run.
 */
import bash from './cloakroom.bash' with { type: 'text' }
import fish from './cloakroom.fish' with { type: 'text' }
import zsh from './cloakroom.zsh' with { type: 'text' }

export const scripts = { bash, zsh, fish }
