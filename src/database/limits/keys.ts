/** Names under which limits count: they do not reveal addresses to readers of the database. */
import { createHmac } from 'node:crypto'

const BYTES = 16

/** Uses the last SECRET_KEY, which stays when a new one is added before it. In hex. */
export function openKeys(secretKey: string): (name: string, key: string) => string {
  const secret = secretKey.split(',').at(-1)?.trim() ?? ''
  return (name, key) =>
    createHmac('sha256', secret)
      .update(`limit ${name} ${key}`)
      .digest('hex')
      .slice(0, 2 * BYTES)
}
