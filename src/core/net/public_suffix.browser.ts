/** `public_suffix.ts` without the lists, which are half of the console's download: the server uses them. */

export function publicSuffixOf(name: string): string | null {
  return name.split('.').at(-1) ?? null
}
