/** The public suffix of a name, by the lists of public and of private ones. */
import { getPublicSuffix } from 'tldts'

export function publicSuffixOf(name: string): string | null {
  return getPublicSuffix(name, { allowPrivateDomains: true })
}
