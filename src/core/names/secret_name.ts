/**
 * The name of a secret (protocol 5.5) as the source of a pattern: what a shell takes as the
 * name of a variable, of at most 128 characters.
 */
export const SECRET_NAME = '[A-Za-z_][A-Za-z0-9_]{0,127}'

/** Before the name it makes the placeholder, which represents the value in a call. */
export const PLACEHOLDER_PREFIX = 'SVC_SECRET_'

export const placeholderOf = (name: string) => `${PLACEHOLDER_PREFIX}${name}`
