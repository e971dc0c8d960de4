/** Started by `unlock`, not by people. In a separate file, so that a starting server loads nothing for it. */
export const AGENT_COMMAND = '__unlocked'
