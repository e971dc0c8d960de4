/** Under which name something is counted: one that does not show addresses to who reads the database. */
import { createHmac } from 'node:crypto'

const BYTES = 16

/** The last of SECRET_KEY stays while a new one is put before it. In hex. */
export function openKeys(secretKey: string): (name: string, key: string) => string {
  const secret = secretKey.split(',').at(-1)?.trim() ?? ''
  return (name, key) =>
    createHmac('sha256', secret)
      .update(`limit ${name} ${key}`)
      .digest('hex')
      .slice(0, 2 * BYTES)
}
