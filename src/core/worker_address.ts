/**
 * Where a thread's program is, by its path below src without an extension. In the executable all modules have
 * become one file, and src/dev/build.ts puts the threads' programs beside it.
 */
export function workerAddress(path: string): string {
  const fromSource = import.meta.path.endsWith('.ts')
  return new URL(fromSource ? `../${path}.ts` : `./${path}.js`, import.meta.url).href
}
