/** `cloakroom settings`: the documentation of the configuration, from its declaration. */
import { documentConfig } from '../../platform/config/config.ts'

export async function runSettings(): Promise<number> {
  process.stdout.write(`${documentConfig()}\n`)
  return 0
}
