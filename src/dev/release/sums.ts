/** SHA-256 of files. */
import { join } from 'node:path'

/** Sums by file name. */
export type Sums = Record<string, string>

export async function sha256OfFile(path: string): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  for await (const chunk of Bun.file(path).stream()) hash.update(chunk)
  return hash.digest('hex')
}

export async function sumsOf(folder: string, names: readonly string[]): Promise<Sums> {
  const sums: Sums = {}
  for (const name of [...names].sort()) sums[name] = await sha256OfFile(join(folder, name))
  return sums
}

/** Returns the text that `sha256sum` would write. */
export function textOf(sums: Sums): string {
  return Object.entries(sums)
    .map(([name, sha256]) => `${sha256}  ${name}\n`)
    .join('')
}
