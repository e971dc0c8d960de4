/** The pattern source of a secret's name (protocol 5.5): a variable name in a shell, of at most 128 characters. */
export const SECRET_NAME = '[A-Za-z_][A-Za-z0-9_]{0,127}'

/** Before the name it makes the placeholder, which represents the value in a call. */
export const PLACEHOLDER_PREFIX = 'SVC_SECRET_'

export const placeholderOf = (name: string) => `${PLACEHOLDER_PREFIX}${name}`
