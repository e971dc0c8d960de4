/**
 * Returns the address of a thread's program, given by its path below src without an extension. The executable has all
 * modules in one file, and src/dev/build.ts puts the threads' programs beside it.
 */
export function workerAddress(path: string): string {
  const fromSource = import.meta.path.endsWith('.ts')
  return new URL(fromSource ? `../${path}.ts` : `./${path}.js`, import.meta.url).href
}
