/** Names of keys on this computer. */
const isApple = /Mac|iPhone|iPad/.test(globalThis.navigator?.platform ?? '')

export const searchKeys = isApple ? '⌘K' : 'Ctrl+K'
export const signKeys = isApple ? '⌘↵' : 'Ctrl+↵'
