/** `cloakroom keygen`: fresh keys, to be redirected into a .env file. */
import { generateKeys } from '../../../operator/own_keys.ts'
import type { Host } from '../../host.ts'

export async function runKeygen({ streams }: Host, json = false): Promise<number> {
  const keys = generateKeys()
  const lines = Object.entries(keys).map(([name, value]) => `${name}=${value}\n`)
  streams.stdout.write(json ? `${JSON.stringify(keys, null, 2)}\n` : lines.join(''))
  return 0
}
