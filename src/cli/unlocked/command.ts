/** Started by `unlock`, not by people. In a file of its own: a server that starts loads nothing for it. */
export const AGENT_COMMAND = '__unlocked'
