/** `public_suffix.ts` without the lists, which are half of what the console would load: the server refuses by them. */

export function publicSuffixOf(name: string): string | null {
  return name.split('.').at(-1) ?? null
}
