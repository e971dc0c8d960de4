/**
 * The `token` of RFC 9110, section 5.6.2: what the name of a header field or a method is made of. Matches a
 * whole text of 1 to `max` characters.
 */
export function tokenPattern(max?: number): RegExp {
  return new RegExp(`^[!#$%&'*+.^_\`|~0-9A-Za-z-]{1,${max ?? ''}}$`)
}
