/**
 * Returns a pattern for `token` of RFC 9110, section 5.6.2: names of header fields and methods. Matches a whole text of
 * 1 to `max` characters.
 */
export function tokenPattern(max?: number): RegExp {
  return new RegExp(`^[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,${max ?? ''}}$`)
}
