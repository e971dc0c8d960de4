/** The public suffix of a name, by the lists of public and of private ones: large ones, loaded for the first wildcard. */
export function publicSuffixOf(name: string): string | null {
  const { getPublicSuffix } = require('tldts') as typeof import('tldts')
  return getPublicSuffix(name, { allowPrivateDomains: true })
}
