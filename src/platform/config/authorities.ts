/** The certificate authorities that an operator adds to the built-in ones (RESOLVER_CA_FILE). */
import { readFileSync } from 'node:fs'
import { ConfigError } from './config.ts'

/** The text of the PEM file; `undefined` without one. @throws ConfigError when it cannot be read */
export function readAuthorities(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const text = textOf(file)
  if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  throw new ConfigError([
    'RESOLVER_CA_FILE: is not a readable PEM file (example: /etc/cloakroom/ca.pem)',
  ])
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
