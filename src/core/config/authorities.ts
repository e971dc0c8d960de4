/** The certificate authorities that an operator names (RESOLVER_CA_FILE and the like). */
import { readFileSync } from 'node:fs'
import { ConfigError } from './config.ts'

/** The text of the PEM file; `undefined` without one. @throws ConfigError when it cannot be read */
export function readAuthorities(
  file: string | undefined,
  name = 'RESOLVER_CA_FILE',
): string | undefined {
  if (file === undefined) return undefined
  const text = textOf(file)
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new ConfigError([`${name}: is not a readable PEM file (example: /etc/cloakroom/ca.pem)`])
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
