/** Values as queries, paths, forms, and the Basic credentials of OAuth (RFC 6749, section 2.3.1) have them. */

/** RFC 3986, section 2: unreserved characters stay, every other byte is escaped. */
export function percentEncode(value: Uint8Array): string {
  return Buffer.from(value)
    .toString('latin1')
    .replace(
      /[^A-Za-z0-9\-._~]/g,
      (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
    )
}
