/** `cloakroom keygen`: fresh keys, to be redirected into a .env file. */
import { generateKeys } from '../../server/own_keys.ts'

export async function runKeygen(): Promise<number> {
  const lines = Object.entries(generateKeys()).map(([name, value]) => `${name}=${value}\n`)
  process.stdout.write(lines.join(''))
  return 0
}
